// SPDX-License-Identifier: MIT
// What is put into the page: the trace and the reports as the engine has written them, in base64, a large one deflated.
// All scripts of the page are one function, which embed.py puts together in their order.

const byId = id => document.getElementById(id);

window.addEventListener('unhandledrejection', event => {
  byId('note').hidden = false;
  byId('note').textContent = `The page cannot be made: ${event.reason && event.reason.message || event.reason}.`;
});

function fromBase64(text) {
  if (Uint8Array.fromBase64)
    return Uint8Array.fromBase64(text);
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++)
    bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// The bytes of a file; null without one. Neither JSON nor a trace begins as what zlib has deflated.
async function bytesOf(id) {
  const bytes = fromBase64(byId(id).textContent.trim());
  if (bytes.length === 0)
    return null;
  if (bytes[0] !== 0x78)
    return bytes;
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).arrayBuffer());
}

async function jsonOf(id) {
  const bytes = await bytesOf(id);
  return bytes && JSON.parse(new TextDecoder().decode(bytes));
}
