/** A request's method with the types of its parameters and its result. */
export interface Request<P, R> {
  readonly method: string;
  readonly types?: { readonly params: P; readonly result: R };
}

/** A notification's method with the type of its parameters. */
export interface Notification<P> {
  readonly method: string;
  readonly types?: { readonly params: P };
}

/** Makes the request with this method. */
export function request<P, R>(method: string): Request<P, R> {
  return { method };
}

/** Makes the notification with this method. */
export function notification<P>(method: string): Notification<P> {
  return { method };
}
