// SPDX-License-Identifier: MIT
// The numbers that stand in the page, as pack.c has written them, and finding chunks in them.
// All scripts of the page are one: embed.py puts them behind one another.

const UNKNOWN = 0xffffffff;
const byId = id => document.getElementById(id);
const run = JSON.parse(byId('run').textContent);
const FATES = run.fates.length, CLASSES = run.labels.length;
const CLASS_NAMES = ['own', 'other', 'requeued', 'recalled', 'copy', 'verify', 'vain'];
const workers = run.workers.map(([rank, node, master, host, lost, finish], index) => ({rank, node, master, host, lost, finish, index}));

function bytesOf(id) {
  const text = byId(id).textContent;
  if (Uint8Array.fromBase64)
    return Uint8Array.fromBase64(text);
  const place = new Uint8Array(128);
  [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach((c, i) => { place[c.charCodeAt(0)] = i; });
  const bytes = new Uint8Array(text.length / 4 * 3);
  for (let from = 0, to = 0; from < text.length; from += 4, to += 3) {
    const bits = place[text.charCodeAt(from)] << 18 | place[text.charCodeAt(from + 1)] << 12 |
      place[text.charCodeAt(from + 2)] << 6 | place[text.charCodeAt(from + 3)];
    bytes[to] = bits >> 16;
    bytes[to + 1] = bits >> 8;
    bytes[to + 2] = bits;
  }
  return bytes;
}

// Returns a function that reads the next number, which is a difference from `expected`; NaN where it is not known.
function reader(bytes) {
  let at = 0;
  return expected => {
    let byte = bytes[at++];
    if (byte === 0)
      return NaN;
    let coded = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = bytes[at++];
      coded += (byte & 127) * scale;
    }
    return expected + (coded % 2 === 1 ? (coded - 1) / 2 : -coded / 2);
  };
}

const N = run.chunks;
// Another row tells of the same chunk, and has its times; nobody knows when it began, which is the earliest moment.
const IS_PART = 1, IS_ASSUMED = 2;
const given = new Uint32Array(N), asked = new Uint32Array(N), begun = new Uint32Array(N), ended = new Uint32Array(N),
  stored = new Uint32Array(N), compute = new Uint32Array(N), from = new Uint32Array(N), to = new Uint32Array(N),
  number = new Uint32Array(N), master = new Int32Array(N), code = new Uint8Array(N), kind = new Uint8Array(N),
  flags = new Uint8Array(N), owner = new Uint32Array(N), first = new Float64Array(N), count = new Float64Array(N);

function readChunks() {
  const next = reader(bytesOf('chunks'));
  const known = value => Number.isNaN(value) ? UNKNOWN : value;
  let i = 0;
  for (const worker of workers) {
    let over = 0, following = 0, size = 0, last = 0;
    worker.begin = i;
    for (let left = N > 0 ? next(0) : 0; left > 0; left--, i++) {
      owner[i] = worker.index;
      const g = next(over);
      given[i] = g;
      asked[i] = known(next(g));
      const b = next(g), start = Number.isNaN(b) ? g : b;
      begun[i] = known(b);
      const e = next(start);
      ended[i] = known(e);
      over = Number.isNaN(e) ? start : e;
      stored[i] = known(next(over));
      compute[i] = known(next(over - start));
      const f = next(following);
      first[i] = f;
      const c = next(size);
      count[i] = c;
      following = (Number.isNaN(f) ? following : f) + (Number.isNaN(c) ? 0 : c);
      size = Number.isNaN(c) ? size : c;
      const n = next(last + 1);
      number[i] = Number.isNaN(n) ? 0 : n;
      last = Number.isNaN(n) ? last + 1 : n;
      master[i] = next(worker.master);
      const all = next(FATES + 1), words = run.reasons.length * FATES;
      code[i] = all % words;
      flags[i] = Math.floor(all / words);
      kind[i] = run.classes[code[i]];
      from[i] = Number.isNaN(b) ? g : b;
      to[i] = Number.isNaN(b) || flags[i] & IS_PART ? from[i] : Math.max(b, !Number.isNaN(e) ? e : worker.lost >= 0 ? worker.lost : run.end);
    }
    worker.end = i;
  }
}

const cuts = {time: new Uint32Array(run.cuts), size: new Float64Array(run.cuts), formula: new Float64Array(run.cuts), worker: new Int32Array(run.cuts)};

function readCuts() {
  const next = reader(bytesOf('cuts'));
  let time = 0, size = 0;
  for (let i = 0; i < run.cuts; i++) {
    time = cuts.time[i] = next(time);
    const c = next(size);
    cuts.size[i] = c;
    size = Number.isNaN(c) ? size : c;
    cuts.formula[i] = next(size);
    cuts.worker[i] = next(0);
  }
}

// The first chunk of the worker that begins at `time` or later.
function chunkFrom(worker, time) {
  let low = worker.begin, high = worker.end;
  while (low < high) {
    const middle = low + high >> 1;
    if (from[middle] < time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The chunk that the worker computes at `time`, or -1.
function chunkAt(worker, time) {
  const i = chunkFrom(worker, time + 1e-9) - 1;
  return i >= worker.begin && time >= from[i] && time < to[i] ? i : -1;
}
