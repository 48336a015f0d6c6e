/**
 * Server-sent events read from a fetch() body: bytes in, `{event, data, id}` out.
 *
 * EventSource cannot POST, so a streamed answer is parsed here, by the rules of the WHATWG HTML
 * standard, section "Interpreting an event stream".
 */

/** @typedef {{event: string, data: string, id: string}} ServerSentEvent `id` is the last one given */

/**
 * A parser that takes text in pieces of any size and calls `emit` for every complete event.
 *
 * @param {(event: ServerSentEvent) => void} emit
 * @returns {{push: (text: string) => void}}
 */
export function createParser(emit) {
  let rest = "";
  let name = "";
  let id = "";
  /** @type {string[]} */
  let data = [];

  /** @param {string} line */
  function takeLine(line) {
    if (line === "") {
      if (data.length > 0) emit({ event: name || "message", data: data.join("\n"), id });
      name = "";
      data = [];
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return; // a comment: the server's heartbeat
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") name = value;
    else if (field === "data") data.push(value);
    else if (field === "id") id = value;
  }

  return {
    push(text) {
      rest += text;
      // A carriage return at the very end may be the first half of \r\n: wait for the next piece.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = /** @type {string} */ (lines.pop());
      lines.forEach(takeLine);
    },
  };
}

/**
 * The events of a response body, as they arrive. Leaving the loop early cancels the request.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<ServerSentEvent>}
 */
export async function* readEvents(body) {
  /** @type {ServerSentEvent[]} */
  let ready = [];
  const parser = createParser((event) => ready.push(event));
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      parser.push(done ? decoder.decode() : decoder.decode(value, { stream: true }));
      const batch = ready;
      ready = [];
      yield* batch;
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
