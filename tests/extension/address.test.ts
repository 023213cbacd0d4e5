import { expect, test } from "vitest";
import { findAddressError, isLocal } from "../../extension/src/commands/address";

test.each(["https://models.example/v1", "http://127.0.0.1:8000/v1", "http://localhost:1234/v1", "http://[::1]:80/v1", " https://a.example "])("%s can be an address", (address) => {
  expect(findAddressError(address)).toBeUndefined();
});

test.each(["", "models.example", "http://models.example/v1", "ftp://a.example", "https://me:secret@a.example", "https://a.example/?key=1", "https://a.example/#x", "http://127.0.0.1.evil.example/v1"])("%s cannot", (address) => {
  expect(findAddressError(address)).toEqual(expect.any(String));
});

test("what is on this machine is told apart", () => {
  expect(isLocal("http://127.0.0.1:8000/v1")).toBe(true);
  expect(isLocal("https://localhost/v1")).toBe(true);
  expect(isLocal("https://models.example/v1")).toBe(false);
  expect(isLocal("nonsense")).toBe(false);
});
