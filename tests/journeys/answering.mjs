// A server of models on this machine that answers questions about passages, sentence by sentence, as fast as the journey lets it.
import { createServer } from "node:http";

/** Each of `sentences` is `{text, from}`: what is said, and words of the passage it rests on. It is held back until `release`. */
export class Answering {
  asked = [];
  #server;
  #sentences;
  #held = true;
  #waiting = [];

  constructor(sentences) {
    this.#sentences = sentences;
  }

  async start() {
    this.#server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk) => (body += chunk)).on("end", () => {
        if (request.method === "GET") response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ object: "list", data: [{ id: "tiny", object: "model" }] }));
        else this.#answer(JSON.parse(body), response).catch(() => response.destroy());
      });
    });
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.#server.address().port}/v1`;
  }

  /** Lets everything after the first sentence of an answer be said. */
  release() {
    this.#held = false;
    for (const go of this.#waiting.splice(0)) go();
  }

  hold() {
    this.#held = true;
  }

  stop() {
    this.release();
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  async #answer(question, response) {
    const prompt = question.messages.map(({ content }) => (typeof content === "string" ? content : content.map(({ text }) => text).join("\n"))).join("\n");
    this.asked.push(prompt);
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const send = (delta, finish = null) => response.write(`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "tiny", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    for (const [at, { text, from }] of this.#sentences.entries()) {
      if (at > 0 && this.#held) await new Promise((go) => this.#waiting.push(go));
      send({ role: "assistant", content: `${text} [${numberOf(prompt, from)}]\n` });
    }
    send({}, "stop");
    response.end("data: [DONE]\n\n");
  }
}

/** The number of the passage in which the words stand: it is in brackets at the head of each. */
function numberOf(prompt, words) {
  const at = prompt.indexOf(words);
  return at < 0 ? 0 : Number([...prompt.slice(0, at).matchAll(/^\[(\d+)\]/gm)].at(-1)?.[1] ?? 0);
}
