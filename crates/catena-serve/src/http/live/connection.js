// Requests to the service, with the reader's token, and the stream of its states.

let token = sessionStorage.getItem("catena-token") || "";

/** A request; the reply, or an error with the service's sentence. */
async function request(path, options = {}) {
  const headers = { ...(options.headers || {}) };
  if (token) headers.Authorization = `Bearer ${token}`;
  const reply = await fetch(path, { ...options, headers, cache: "no-store" });
  if (reply.ok) return reply;
  if (reply.status === 401) throw new Error(options.method === "POST" && token ? "this token may not write" : "a token is needed");
  let said = `the service answered with status ${reply.status}`;
  try { said = (await reply.json()).error; } catch { /* A status alone. */ }
  throw new Error(said);
}

const asked = async (path) => (await request(path)).json();
const posted = async (path, row) => (await request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(row) })).json();

/** Calls `onState` with every state, and `onLost` with a sentence when the stream ends; tries again for ever. */
async function follow(onState, onLost) {
  for (;;) {
    try {
      const reader = (await request("/v1/events")).body.getReader();
      const decoder = new TextDecoder();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += decoder.decode(value, { stream: true });
        const events = text.split("\n\n");
        text = events.pop();
        // Only the newest state counts.
        const data = events.map((event) => event.split("\ndata: ")[1]).filter(Boolean).pop();
        if (data) onState(JSON.parse(data));
      }
      onLost("connection lost");
    } catch (error) {
      onLost(error.message);
    }
    await new Promise((done) => setTimeout(done, 1000));
  }
}
