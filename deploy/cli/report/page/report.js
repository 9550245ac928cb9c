// SPDX-License-Identifier: MIT
// The charts of the page of `hdss report`. The numbers stand in the page as pack.c has written them. Rows of chunks are
// painted dot by dot into a picture, so that a frame takes as long with a million chunks as with a thousand: what is
// narrower than a dot adds to the busy share of the dot. All words come from the page's data as text, never as markup.
'use strict';
(() => {

const UNKNOWN = 0xffffffff;
const byId = id => document.getElementById(id);
const run = JSON.parse(byId('run').textContent);
const FATES = run.fates.length, CLASSES = run.labels.length;
const CLASS_NAMES = ['own', 'other', 'requeued', 'recalled', 'copy', 'verify', 'vain'];
const workers = run.workers.map(([rank, node, master, host, lost, finish], index) => ({rank, node, master, host, lost, finish, index}));
const began = performance.now();

// --- numbers ---

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
const given = new Uint32Array(N), asked = new Uint32Array(N), begun = new Uint32Array(N), ended = new Uint32Array(N),
  stored = new Uint32Array(N), compute = new Uint32Array(N), from = new Uint32Array(N), to = new Uint32Array(N),
  number = new Uint32Array(N), master = new Int32Array(N), code = new Uint8Array(N), kind = new Uint8Array(N),
  owner = new Uint32Array(N), first = new Float64Array(N), count = new Float64Array(N);

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
      code[i] = next(FATES + 1);
      kind[i] = run.classes[code[i]];
      from[i] = Number.isNaN(b) ? g : b;
      to[i] = Number.isNaN(b) ? g : Math.max(b, !Number.isNaN(e) ? e : worker.lost >= 0 ? worker.lost : run.end);
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

// --- words ---

const group = value => Number.isNaN(value) ? '?' : value.toLocaleString('en-US', {maximumFractionDigits: 0});
const decimals = Math.min(9, Math.max(0, Math.round(-Math.log10(run.tick))));

function durationText(ticks) {
  const s = ticks * run.tick, size = Math.abs(s);
  if (size >= 7200)
    return (s / 3600).toPrecision(4) + ' h';
  if (size >= 120)
    return (s / 60).toPrecision(4) + ' min';
  const [unit, name] = size >= 1 || size === 0 ? [1, 's'] : size >= 1e-3 ? [1e3, 'ms'] : size >= 1e-6 ? [1e6, 'µs'] : [1e9, 'ns'];
  return size === 0 ? '0 s' : Number((s * unit).toPrecision(4)) + ' ' + name;
}

const timeText = ticks => (ticks * run.tick).toFixed(Math.min(decimals, 6)) + ' s';

const REASONS = {
  own: 'The technique had cut it for this worker.',
  other: 'The technique had cut it for another worker; this one asked while it lay in the pool.',
  cut: 'The technique cut it as the worker asked.',
  requeued: 'Another worker had it, and was lost or failed.',
  recalled: 'Another worker had it and had not begun it; it was recalled as this one had nothing to do.',
  copy: 'A speculative copy: another worker computes it, too, and nothing else was left.',
  verify: 'It was computed again, to compare its results with those of another worker.',
  adopted: 'The worker was at it when its master was lost; the supermaster took both over.',
};
const ENDS = {
  done: 'Its results were taken.',
  lost: 'It was lost with the worker.',
  returned: 'It was given back before it had begun.',
  dropped: 'Its results were not needed any more.',
  failed: 'It failed.',
  open: 'It had not ended when the trace ended.',
  undone: 'It was not computed, as the run ended early.',
};

const nameOf = worker => `Worker ${worker.rank} on node ${worker.node}` + (worker.host ? ` (${worker.host})` : '');

// The story of a chunk, in words.
function storyOf(i) {
  const worker = workers[owner[i]], parts = [];
  const what = Number.isNaN(first[i]) || count[i] === 0 ? `${group(count[i])} iterations`
    : count[i] === 1 ? `iteration ${group(first[i])}`
    : `iterations ${group(first[i])} to ${group(first[i] + count[i] - 1)} (${group(count[i])})`;
  parts.push(`${nameOf(worker)}, chunk ${number[i] || i - worker.begin + 1}: ${what}.`);
  const by = master[i] < 0 ? '' : master[i] === 0 ? ' by the supermaster' : ` by master ${master[i]}`;
  parts.push(asked[i] === UNKNOWN ? `Given${by} at ${timeText(given[i])}` : `Asked for at ${timeText(asked[i])}, given${by} ${durationText(given[i] - asked[i])} later`);
  if (begun[i] === UNKNOWN) {
    parts[1] += ', never begun.';
  } else {
    parts[1] += `, begun at ${timeText(begun[i])}, ${durationText(begun[i] - given[i])} after that.`;
    if (ended[i] !== UNKNOWN)
      parts.push(`Ended at ${timeText(ended[i])} after ${durationText(ended[i] - begun[i])}` +
        (compute[i] !== UNKNOWN ? `, ${durationText(compute[i])} of it in the kernel` : '') +
        (stored[i] !== UNKNOWN ? `; stored ${durationText(stored[i] - ended[i])} later.` : '.'));
  }
  const before = i > worker.begin ? from[i] - to[i - 1] : from[i] - run.begin;
  if (begun[i] !== UNKNOWN && before > 0)
    parts.push(`Before it the worker waited for ${durationText(before)}.`);
  parts.push(REASONS[run.reasons[Math.floor(code[i] / FATES)]] || '', ENDS[run.fates[code[i] % FATES]] || '');
  return parts.filter(part => part !== '').join(' ');
}

function show(place, text, isPinned) {
  if (place.textContent !== text)
    place.textContent = text;
  place.classList.toggle('pinned', Boolean(isPinned));
}

// --- colours ---

let palette;

function packed(colour) { // #rrggbb as a dot of an ImageData
  const value = parseInt(colour.slice(1), 16);
  return (0xff000000 | (value & 255) << 16 | value & 0xff00 | value >> 16) >>> 0;
}

function mixed(a, b, share) {
  let sum = 0xff000000;
  for (const shift of [0, 8, 16])
    sum += Math.round((a >>> shift & 255) * (1 - share) + (b >>> shift & 255) * share) * 2 ** shift;
  return sum >>> 0;
}

// On paper all is as in the light, whatever the screen has: the first rule of the style has those colours.
function readPalette(isPrinting) {
  const style = isPrinting ? document.styleSheets[0].cssRules[0].style : getComputedStyle(document.documentElement);
  const value = name => style.getPropertyValue('--' + name).trim();
  palette = {};
  for (const name of ['ground', 'panel', 'ink', 'faint', 'line', 'idle', 'accent', 'mark', 'hatch', ...CLASS_NAMES])
    palette[name] = value(name);
  palette.classes = CLASS_NAMES.map(name => packed(palette[name]));
  palette.shades = palette.classes.map(colour => Uint32Array.from({length: 65}, (_, i) => mixed(packed(palette.idle), colour, i / 64)));
  palette.hatching = palette.classes.map(colour => mixed(colour, packed(palette.hatch), .8));
}

// True where the hatching of a class has a line; x and y in CSS dots. Hatching tells the classes apart without colour.
function isHatched(k, x, y) {
  switch (k) {
  case 2: return (x + y) % 6 === 0;
  case 3: return (x - y + 6000) % 6 === 0;
  case 4: return x % 4 === 0;
  case 5: return y % 4 === 0;
  case 6: return (x + y) % 6 === 0 || (x - y + 6000) % 6 === 0;
  default: return false;
  }
}

// --- canvases ---

let ratio = 1, isPrinting = false;
const PRINT_WIDTH = 680;

// Gives a canvas its size in CSS dots; returns its context, scaled by them.
function prepare(canvas, width, height) {
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const isChart = width > 100; // else a sample in a legend
  canvas.style.width = isPrinting && isChart ? '100%' : width + 'px';
  canvas.style.height = isPrinting && isChart ? 'auto' : height + 'px';
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const root = getComputedStyle(document.documentElement);
  context.font = `${isPrinting ? 12 : Math.max(12, Math.round(.76 * parseFloat(root.fontSize)))}px ${root.fontFamily}`;
  return context;
}

function niceStep(span, parts) {
  const raw = span / parts, power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map(digit => digit * power).find(step => step >= raw * (1 - 1e-9));
}

// The numbers of an axis, each with as many digits behind the point as the finest of them needs.
function tickTexts(ticks) {
  let digits = 0;
  while (digits < 9 && ticks.some(tick => Math.abs(tick * 10 ** digits - Math.round(tick * 10 ** digits)) > 1e-6 * Math.max(1, Math.abs(tick))))
    digits++;
  return ticks.map(tick => tick.toLocaleString('en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits}));
}

// --- the rows of the Gantt chart ---

const digitsOf = name => Math.max(1, ...workers.map(worker => String(worker[name]).length));
const GUTTER = Math.max(104, 62 + 9 * (digitsOf('node') + digitsOf('rank')));
const byNode = workers.length > run.rows;
const nodes = [];
for (const worker of workers) {
  const last = nodes[nodes.length - 1];
  if (last && last.node === worker.node)
    last.end = worker.index + 1;
  else
    nodes.push({node: worker.node, begin: worker.index, end: worker.index + 1, isOpen: false});
}
let rows = [], totalHeight = 0;

function layRows() {
  const closed = byNode ? nodes.length : workers.length, room = isPrinting ? 520 : 560;
  const unit = Math.max(isPrinting ? 2 : byNode ? 9 : 5, Math.min(byNode ? 40 : 26, Math.floor(room / Math.max(1, closed))));
  rows = [];
  let y = 0;
  const add = (row, height) => {
    rows.push(Object.assign(row, {y, height}));
    y += height;
  };
  for (const node of nodes) {
    if (byNode)
      add({node, worker: null}, unit);
    for (let w = node.begin; w < node.end && (!byNode || node.isOpen); w++)
      add({node, worker: workers[w]}, byNode ? 7 : unit);
  }
  totalHeight = y;
}

const rowAt = y => {
  let low = 0, high = rows.length - 1;
  while (low < high) {
    const middle = low + high + 1 >> 1;
    if (rows[middle].y <= y)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
};

// --- painting rows ---

const view = {from: 0, to: Math.max(1, run.end)};
let shares = [], steps = [], line, lineClass;

function prepareLines(width) {
  if (line && line.length === width)
    return;
  shares = Array.from({length: CLASSES}, () => new Float32Array(width + 2));
  steps = Array.from({length: CLASSES}, () => new Float32Array(width + 2));
  line = new Uint32Array(width);
  lineClass = new Uint8Array(width);
}

// Adds the time from a to b, in dots, to the busy share of its class: the ends at once, what lies between by its steps.
function addShare(k, a, b) {
  const x = Math.floor(a), last = Math.floor(b);
  if (x === last) {
    shares[k][x] += b - a;
    return;
  }
  shares[k][x] += x + 1 - a;
  shares[k][last] += b - last;
  steps[k][x + 1]++;
  steps[k][last]--;
}

function clearShares() {
  for (let k = 0; k < CLASSES; k++) {
    shares[k].fill(0);
    steps[k].fill(0);
  }
}

// Sums the steps up; returns whether any class but the first two is there.
function finishShares(width) {
  let isSpecial = false;
  for (let k = 0; k < CLASSES; k++) {
    let sum = 0, any = false;
    const share = shares[k], step = steps[k];
    for (let x = 0; x < width; x++) {
      sum += step[x];
      share[x] += sum;
      any = any || share[x] > 0;
    }
    isSpecial = isSpecial || any && k > 1;
  }
  return isSpecial;
}

// Calls take(i, a, b) for each chunk of the worker that is to be seen, with its place in dots.
function eachChunk(worker, range, width, take) {
  const scale = width / (range.to - range.from);
  for (let i = Math.max(worker.begin, chunkFrom(worker, range.from) - 1); i < worker.end && from[i] < range.to; i++)
    if (to[i] > range.from)
      take(i, Math.max(0, (from[i] - range.from) * scale), Math.min(width, (to[i] - range.from) * scale));
}

// A worker: chunks that are wide enough one by one, with an edge between them, the others as shades of a dot.
function paintWorker(dots, stride, top, height, row, width) {
  const idle = packed(palette.idle), ground = packed(palette.ground), wide = 2.5;
  let isSpecial = false;
  line.fill(idle);
  lineClass.fill(0);
  clearShares();
  let hasNarrow = false;
  eachChunk(row.worker, view, width, (i, a, b) => {
    const k = kind[i];
    if (b - a < wide) {
      addShare(k, a, b);
      hasNarrow = true;
    }
  });
  if (hasNarrow) {
    isSpecial = finishShares(width);
    for (let x = 0; x < width; x++) {
      let sum = 0, most = 0;
      for (let k = 0; k < CLASSES; k++) {
        sum += shares[k][x];
        most = shares[k][x] > shares[most][x] ? k : most;
      }
      if (sum > 0) {
        line[x] = palette.shades[most][Math.max(8, Math.round(64 * Math.min(1, sum)))];
        lineClass[x] = most;
      }
    }
  }
  eachChunk(row.worker, view, width, (i, a, b) => {
    if (b - a < wide)
      return;
    const x = Math.round(a), end = Math.max(x + 1, Math.round(b)), k = kind[i];
    line.fill(palette.classes[k], x, end);
    lineClass.fill(k, x, end);
    isSpecial = isSpecial || k > 1;
    if (end - x >= 4 && end < width) {
      line[end - 1] = ground;
      lineClass[end - 1] = 0;
    }
  });
  const gap = height >= 4 * ratio ? Math.round(ratio) : 0;
  for (let y = top; y < top + height - gap; y++) {
    if (y < 0 || (y + 1) * stride > dots.length)
      continue;
    dots.set(line, y * stride);
    if (isSpecial)
      hatchLine(dots, y, stride, width, k => palette.hatching[k]);
  }
}

function hatchLine(dots, y, stride, width, colourOf) {
  const v = Math.floor(y / ratio);
  for (let x = 0; x < width; x++)
    if (lineClass[x] > 1 && isHatched(lineClass[x], Math.floor(x / ratio), v))
      dots[y * stride + x] = colourOf(lineClass[x]);
}

// Sums the workers from `begin` to `end` up; returns whether a hatched class is there.
function sumWorkers(range, begin, end, width) {
  clearShares();
  for (let w = begin; w < end; w++)
    eachChunk(workers[w], range, width, (i, a, b) => addShare(kind[i], a, b));
  return finishShares(width);
}

// Several workers: the height is the share of those that are busy, the classes stand on one another.
function paintSum(dots, stride, top, height, range, begin, end, width) {
  const idle = packed(palette.idle), isSpecial = sumWorkers(range, begin, end, width);
  const inner = height - Math.round(ratio), scale = inner / (end - begin);
  for (let x = 0; x < width; x++) {
    let y = top + inner, sum = 0;
    for (let k = 0; k < CLASSES; k++) {
      if (shares[k][x] === 0)
        continue;
      sum += shares[k][x];
      const upper = Math.max(top, Math.round(top + inner - sum * scale));
      for (; y > upper; y--) {
        const v = y - 1;
        if (v >= 0 && (v + 1) * stride <= dots.length)
          dots[v * stride + x] = isSpecial && isHatched(k, Math.floor(x / ratio), Math.floor(v / ratio)) ? palette.hatching[k] : palette.classes[k];
      }
    }
    for (; y > top; y--)
      if (y - 1 >= 0 && y * stride <= dots.length)
        dots[(y - 1) * stride + x] = idle;
  }
}

// --- the Gantt chart ---

const box = byId('gantt-box'), canvas = byId('gantt'), space = byId('gantt-space');
const focus = {row: 0, chunk: -1, isPinned: false, isShown: false};
let picture = null, pictureKey = '', frame = 0;

function later() {
  if (frame === 0)
    frame = requestAnimationFrame(() => {
      frame = 0;
      drawGantt();
    });
}

const widthOfBox = () => isPrinting ? PRINT_WIDTH : Math.max(200, box.clientWidth);

function paintRows(width, height, top) {
  const w = Math.max(1, Math.round((width - GUTTER) * ratio)), h = Math.max(1, Math.round(height * ratio));
  const key = [w, h, top, view.from, view.to, rows.length, palette.ground].join();
  if (key === pictureKey)
    return;
  if (!picture || picture.width !== w || picture.height !== h)
    picture = new ImageData(w, h);
  const dots = new Uint32Array(picture.data.buffer);
  prepareLines(w);
  dots.fill(packed(palette.ground));
  for (let r = rowAt(top); r < rows.length && rows[r].y < top + height; r++) {
    const row = rows[r], y = Math.round((row.y - top) * ratio), tall = Math.round((row.y + row.height - top) * ratio) - y;
    if (row.worker)
      paintWorker(dots, w, y, tall, row, w);
    else
      paintSum(dots, w, y, tall, view, row.node.begin, row.node.end, w);
  }
  pictureKey = key;
}

const xOf = (time, width) => GUTTER + (time - view.from) / (view.to - view.from) * (width - GUTTER);

function drawLabels(context, width, height, top) {
  context.textBaseline = 'middle';
  let free = -Infinity;
  for (let r = rowAt(top); r < rows.length && rows[r].y < top + height; r++) {
    const row = rows[r], y = row.y - top, begins = r === 0 || rows[r - 1].node !== row.node;
    if (begins && (!byNode || row.node.isOpen)) {
      context.fillStyle = palette.line;
      context.fillRect(0, Math.round(y) - .5, width, 1);
    }
    const middle = Math.max(top === 0 && r === 0 ? 8 : -Infinity, byNode || row.height > 11 ? y + row.height / 2 : y + 6);
    if (begins && middle - free >= 12) {
      context.fillStyle = palette.ink;
      context.textAlign = 'left';
      context.fillText((byNode ? row.node.isOpen ? '▾ ' : '▸ ' : '') + 'node ' + row.node.node, 6, middle);
      free = middle;
    }
    if (row.worker && row.height >= 12) {
      context.fillStyle = palette.faint;
      context.textAlign = 'right';
      context.fillText(String(row.worker.rank), GUTTER - 8, y + row.height / 2);
    }
  }
}

function drawMarks(context, width, height, top) {
  for (let r = rowAt(top); r < rows.length && rows[r].y < top + height; r++) {
    const row = rows[r];
    if (!row.worker || row.worker.lost < view.from || row.worker.lost > view.to || row.worker.lost < 0)
      continue;
    const x = xOf(row.worker.lost, width), y = row.y - top + row.height / 2, size = Math.min(5, Math.max(3, row.height / 2 - 2));
    for (const [stroke, thickness] of [[palette.ground, 5], [palette.mark, 2]]) {
      context.strokeStyle = stroke;
      context.lineWidth = thickness;
      context.beginPath();
      context.moveTo(x - size, y - size);
      context.lineTo(x + size, y + size);
      context.moveTo(x + size, y - size);
      context.lineTo(x - size, y + size);
      context.stroke();
    }
  }
}

// The end of the loop; what is computed behind it was not needed.
function drawEnd(context, width, height) {
  const time = run.begin + run.elapsed / run.tick, x = xOf(time, width);
  if (time >= run.end || x < GUTTER || x > width)
    return;
  context.strokeStyle = palette.mark;
  context.lineWidth = 1.2;
  context.setLineDash([6, 4]);
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, height);
  context.stroke();
  context.setLineDash([]);
}

function drawFocus(context, width, top) {
  const row = rows[focus.row];
  if (!focus.isShown || !row || isPrinting)
    return;
  const isChunk = row.worker && focus.chunk >= 0;
  const a = isChunk ? Math.max(GUTTER, xOf(from[focus.chunk], width)) : GUTTER, b = isChunk ? Math.min(width, xOf(to[focus.chunk], width)) : width - 1;
  if (b < GUTTER || a > width)
    return;
  for (const [stroke, thickness] of [[palette.ground, 5], [palette.mark, 2]]) {
    context.strokeStyle = stroke;
    context.lineWidth = thickness;
    context.strokeRect(a - 1, row.y - top - .5, Math.max(4, b - a + 1), Math.max(4, row.height));
  }
}

function drawGantt() {
  const width = widthOfBox();
  space.style.height = isPrinting ? 'auto' : totalHeight + 'px';
  const height = isPrinting ? totalHeight : Math.max(1, Math.min(totalHeight, box.clientHeight)), top = isPrinting ? 0 : box.scrollTop;
  const context = prepare(canvas, width, height);
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, width, height);
  paintRows(width, height, top);
  context.putImageData(picture, Math.round(GUTTER * ratio), 0);
  drawLabels(context, width, height, top);
  drawEnd(context, width, height);
  drawMarks(context, width, height, top);
  drawFocus(context, width, top);
  drawAxis(width);
  drawOverview(width);
  box.dataset.from = view.from;
  box.dataset.to = view.to;
}

function drawAxis(width) {
  const context = prepare(byId('gantt-axis'), width, 40), span = (view.to - view.from) * run.tick;
  const step = niceStep(span, Math.max(2, (width - GUTTER) / 110));
  context.clearRect(0, 0, width, 40);
  context.fillStyle = palette.ink;
  context.textBaseline = 'top';
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9)));
  for (let t = Math.ceil(view.from * run.tick / step - 1e-9) * step; t <= view.to * run.tick + step * 1e-9; t += step) {
    const x = xOf(t / run.tick, width);
    context.fillRect(x - .5, 0, 1, 5);
    const label = t.toFixed(digits), half = context.measureText(label).width / 2;
    context.textAlign = 'center';
    context.fillText(label, Math.min(width - half - 1, x), 7);
  }
  context.fillStyle = palette.vain;
  for (const [time] of run.events)
    if (time >= view.from && time <= view.to)
      drawPointer(context, xOf(time, width));
  context.fillStyle = palette.faint;
  context.fillText('time since the beginning of the trace (s)', GUTTER + (width - GUTTER) / 2, 23);
}

// An event, at the axis.
function drawPointer(context, x) {
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x - 4, 7);
  context.lineTo(x + 4, 7);
  context.fill();
}

// The share of busy workers over the whole run, and the part of it that the chart shows.
const overview = byId('overview');
let overviewPicture = null, overviewKey = '';

function drawOverview(width) {
  if (isPrinting)
    return;
  const height = 46, context = prepare(overview, width, height);
  const w = Math.max(1, Math.round((width - GUTTER) * ratio)), h = Math.round(height * ratio), key = [w, h, palette.ground].join();
  if (key !== overviewKey) {
    overviewPicture = new ImageData(w, h);
    prepareLines(w);
    paintSum(new Uint32Array(overviewPicture.data.buffer), w, 0, h, {from: 0, to: Math.max(1, run.end)}, 0, workers.length, w);
    overviewKey = key;
  }
  context.clearRect(0, 0, width, height);
  context.putImageData(overviewPicture, Math.round(GUTTER * ratio), 0);
  const x = time => GUTTER + time / Math.max(1, run.end) * (width - GUTTER);
  context.fillStyle = palette.ink;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.fillText('busy workers', 6, 14);
  context.fillStyle = palette.faint;
  context.fillText(`of ${group(workers.length)}`, 6, 30);
  if (view.from > 0 || view.to < run.end) {
    context.globalAlpha = .72;
    context.fillStyle = palette.ground;
    context.fillRect(GUTTER, 0, x(view.from) - GUTTER, height);
    context.fillRect(x(view.to), 0, width - x(view.to), height);
    context.globalAlpha = 1;
    context.strokeStyle = palette.mark;
    context.lineWidth = 2;
    context.strokeRect(x(view.from), 1, Math.max(2, x(view.to) - x(view.from)), height - 2);
  }
}

// --- moving the view ---

function setView(a, b) {
  const end = Math.max(1, run.end), span = Math.min(end, Math.max(Math.min(20, end), b - a));
  view.from = Math.max(0, Math.min(end - span, a));
  view.to = view.from + span;
  later();
}

function zoom(factor, time) {
  const at = time === undefined ? (view.from + view.to) / 2 : time;
  setView(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

const pan = share => setView(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));
const timeAt = x => view.from + (x - GUTTER) / (widthOfBox() - GUTTER) * (view.to - view.from);
const placeIn = (element, event) => {
  const edges = element.getBoundingClientRect();
  return [event.clientX - edges.left, event.clientY - edges.top];
};

function showNode(row, time) {
  let busy = 0;
  for (let w = row.node.begin; w < row.node.end; w++)
    busy += chunkAt(workers[w], time) >= 0;
  const all = row.node.end - row.node.begin, host = workers[row.node.begin].host;
  return `Node ${row.node.node}${host ? ` (${host})` : ''}: ${group(busy)} of ${group(all)} workers are busy at ${timeText(time)}. ` +
    (row.node.isOpen ? 'Enter or a double click closes it.' : 'Enter or a double click shows its workers.');
}

function tell(time) {
  const row = rows[focus.row];
  let text = '';
  if (!row)
    return;
  if (!row.worker)
    text = showNode(row, time);
  else if (focus.chunk >= 0)
    text = storyOf(focus.chunk);
  else
    text = `${nameOf(row.worker)} has no chunk at ${timeText(time)}` + (row.worker.lost >= 0 && time >= row.worker.lost ? ': it was lost.' : '.');
  show(byId('story'), text, focus.isPinned);
  later();
}

function toggleNode(row) {
  row.node.isOpen = !row.node.isOpen;
  layRows();
  pictureKey = '';
  focus.row = rows.findIndex(other => other.node === row.node && !other.worker);
  focus.chunk = -1;
  tell((view.from + view.to) / 2);
}

function onMove(event) {
  if (focus.isPinned)
    return;
  const [x, y] = placeIn(canvas, event), time = Math.max(0, timeAt(x));
  focus.row = rowAt(y + box.scrollTop);
  focus.isShown = true;
  focus.chunk = rows[focus.row] && rows[focus.row].worker ? chunkAt(rows[focus.row].worker, time) : -1;
  tell(time);
}

let drag = null;

function listenToPointer() {
  box.addEventListener('pointermove', event => {
    if (!drag)
      return onMove(event);
    const moved = event.clientX - drag.x;
    drag.isMoved = drag.isMoved || Math.abs(moved) > 3;
    if (drag.isMoved)
      setView(drag.from - moved * drag.scale, drag.to - moved * drag.scale);
    return undefined;
  });
  box.addEventListener('pointerdown', event => {
    if (event.button !== 0 || event.target !== canvas)
      return;
    drag = {x: event.clientX, from: view.from, to: view.to, scale: (view.to - view.from) / (widthOfBox() - GUTTER), isMoved: false};
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener('pointerup', event => {
    const wasDrag = drag && drag.isMoved;
    drag = null;
    if (wasDrag || event.target !== canvas && event.target !== box)
      return;
    const [x] = placeIn(canvas, event), row = rows[focus.row];
    if (x < GUTTER && byNode && row)
      return toggleNode(row);
    focus.isPinned = !focus.isPinned && focus.chunk >= 0;
    if (!focus.isPinned)
      onMove(event);
    tell(timeAt(x));
    return undefined;
  });
  box.addEventListener('pointerleave', () => {
    if (!focus.isPinned && document.activeElement !== box) {
      focus.isShown = false;
      later();
    }
  });
  box.addEventListener('dblclick', event => {
    const [x] = placeIn(canvas, event), row = rows[focus.row];
    focus.isPinned = false;
    if (x < GUTTER)
      return;
    if (row && !row.worker)
      toggleNode(row);
    else
      zoom(.25, timeAt(x));
  });
  box.addEventListener('wheel', event => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), timeAt(placeIn(canvas, event)[0]));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      pan((event.deltaX || event.deltaY) / 800);
    }
  }, {passive: false});
  box.addEventListener('scroll', later);
  const centre = event => {
    const [x] = placeIn(overview, event), time = (x - GUTTER) / (widthOfBox() - GUTTER) * run.end, half = (view.to - view.from) / 2;
    setView(time - half, time + half);
  };
  overview.addEventListener('pointerdown', event => {
    overview.setPointerCapture(event.pointerId);
    centre(event);
  });
  overview.addEventListener('pointermove', event => event.buttons === 1 && centre(event));
}

// --- the keyboard ---

// Brings the row and the chunk of the focus into sight.
function bringIntoSight() {
  const row = rows[focus.row];
  if (!row)
    return;
  if (row.y < box.scrollTop)
    box.scrollTop = row.y;
  else if (row.y + row.height > box.scrollTop + box.clientHeight)
    box.scrollTop = row.y + row.height - box.clientHeight;
  if (focus.chunk >= 0 && (to[focus.chunk] <= view.from || from[focus.chunk] >= view.to)) {
    const half = (view.to - view.from) / 2, middle = (from[focus.chunk] + to[focus.chunk]) / 2;
    setView(middle - half, middle + half);
  }
}

function focusTime() {
  return focus.chunk >= 0 ? (from[focus.chunk] + to[focus.chunk]) / 2 : (view.from + view.to) / 2;
}

function moveToRow(index) {
  const time = focusTime();
  focus.row = Math.max(0, Math.min(rows.length - 1, index));
  const worker = rows[focus.row] && rows[focus.row].worker;
  focus.chunk = worker && worker.end > worker.begin ? Math.max(worker.begin, Math.min(worker.end - 1, chunkFrom(worker, time + 1e-9) - 1)) : -1;
}

function moveToChunk(step) {
  const worker = rows[focus.row] && rows[focus.row].worker;
  if (!worker || worker.end === worker.begin)
    return pan(step > 0 ? .1 : -.1);
  if (focus.chunk < worker.begin || focus.chunk >= worker.end)
    focus.chunk = Math.max(worker.begin, Math.min(worker.end - 1, chunkFrom(worker, view.from)));
  else
    focus.chunk = Math.max(worker.begin, Math.min(worker.end - 1, focus.chunk + step));
  return undefined;
}

function enter() {
  const row = rows[focus.row];
  if (row && !row.worker)
    toggleNode(row);
  else
    focus.isPinned = !focus.isPinned && focus.chunk >= 0;
}

function goToEnd(isLast) {
  const worker = rows[focus.row] && rows[focus.row].worker;
  if (worker && worker.end > worker.begin)
    focus.chunk = isLast ? worker.end - 1 : worker.begin;
  else
    moveToRow(isLast ? rows.length - 1 : 0);
}

const keys = {
  ArrowRight: () => moveToChunk(1), ArrowLeft: () => moveToChunk(-1),
  ArrowDown: () => moveToRow(focus.row + 1), ArrowUp: () => moveToRow(focus.row - 1),
  PageDown: () => moveToRow(focus.row + 10), PageUp: () => moveToRow(focus.row - 10),
  Home: () => goToEnd(false), End: () => goToEnd(true),
  Enter: enter, Escape: () => { focus.isPinned = false; },
  '+': () => zoom(.5, focusTime()), '=': () => zoom(.5, focusTime()), '-': () => zoom(2, focusTime()),
  '0': () => setView(0, run.end), '9': showTail,
};

function showTail() {
  setView(run.end * .9, run.end);
}

function listenToKeys() {
  box.addEventListener('keydown', event => {
    if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey)
      return;
    event.preventDefault();
    if (event.key.startsWith('Arrow') || event.key === 'Home' || event.key === 'End')
      focus.isPinned = false;
    focus.isShown = true;
    keys[event.key]();
    bringIntoSight();
    tell(focusTime());
  });
  box.addEventListener('focus', () => {
    if (!focus.isShown && box.matches(':focus-visible')) {
      focus.isShown = true;
      moveToRow(focus.row);
      tell(focusTime());
    }
  });
  byId('zoom-in').addEventListener('click', () => zoom(.5));
  byId('zoom-out').addEventListener('click', () => zoom(2));
  byId('zoom-all').addEventListener('click', () => setView(0, run.end));
  byId('zoom-tail').addEventListener('click', showTail);
  const open = byId('open-all');
  open.hidden = !byNode;
  open.addEventListener('click', () => {
    const isOpen = !nodes.every(node => node.isOpen);
    nodes.forEach(node => { node.isOpen = isOpen; });
    open.textContent = isOpen ? 'Close all nodes' : 'Open all nodes';
    layRows();
    pictureKey = '';
    focus.row = 0;
    focus.chunk = -1;
    later();
  });
}

// --- plots with two axes ---

// An axis from `low` to `high` over `length` dots.
function makeAxis(low, high, isLogarithmic) {
  const at = isLogarithmic ? Math.log : value => value;
  const a = at(low), b = at(high);
  const place = value => (at(value) - a) / (b - a || 1);
  const ticks = [];
  if (isLogarithmic) {
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++)
      for (const digit of b - a < 7 ? [1, 2, 5] : [1])
        if (digit * 10 ** power >= low && digit * 10 ** power <= high)
          ticks.push(digit * 10 ** power);
  }
  return {low, high, place, ticks, isLogarithmic};
}

function linearTicks(axis, parts, isWhole) {
  const step = Math.max(isWhole ? 1 : 0, niceStep(axis.high - axis.low || 1, parts));
  axis.ticks = [];
  for (let i = Math.ceil(axis.low / step - 1e-9); i * step <= axis.high * (1 + 1e-12); i++)
    axis.ticks.push(i * step + 0); // and no -0
}

// Draws the frame; returns {context, x(value), y(value), ...} in CSS dots.
function drawFrame(id, xAxis, yAxis, xTitle, yTitle, xText) {
  const holder = byId(id + '-box'), width = isPrinting ? PRINT_WIDTH : holder.clientWidth, height = isPrinting ? 260 : holder.clientHeight;
  const context = prepare(byId(id), width, height), top = 12, bottom = height - 44, right = width - 16;
  if (!yAxis.isLogarithmic)
    linearTicks(yAxis, Math.max(2, (bottom - top) / 45));
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, width, height);
  const yTexts = tickTexts(yAxis.ticks), left = 42 + Math.max(...yTexts.map(text => context.measureText(text).width), 10);
  linearTicks(xAxis, Math.max(2, (right - left) / 90), true);
  const plot = {context, left, right, top, bottom, width, height, x: value => left + xAxis.place(value) * (right - left), y: value => bottom - yAxis.place(value) * (bottom - top)};
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  yAxis.ticks.forEach((tick, i) => {
    context.fillStyle = palette.idle;
    context.fillRect(left, plot.y(tick) - .5, right - left, 1);
    context.fillStyle = palette.ink;
    context.fillText(yTexts[i], left - 7, plot.y(tick));
  });
  context.textBaseline = 'top';
  context.textAlign = 'center';
  tickTexts(xAxis.ticks).forEach((number, i) => {
    const text = xText ? xText(xAxis.ticks[i]) : number;
    const x = plot.x(xAxis.ticks[i]);
    context.fillRect(x - .5, bottom, 1, 5);
    context.fillText(text, Math.min(x, right - context.measureText(text).width / 2 + 14), bottom + 8);
  });
  context.fillRect(left, bottom, right - left, 1);
  context.fillStyle = palette.faint;
  context.fillText(xTitle, (left + right) / 2, bottom + 26);
  context.save();
  context.translate(13, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textBaseline = 'middle';
  context.fillText(yTitle, 0, 0);
  context.restore();
  return plot;
}

// Draws values as a line with steps, or where there are many as the range of those in a dot.
function drawSeries(plot, length, valueAt, colour, mark) {
  const {context} = plot, columns = plot.right - plot.left;
  context.fillStyle = context.strokeStyle = colour;
  if (length <= columns * 2) {
    if (mark === 'line') {
      context.lineWidth = 2;
      context.beginPath();
      for (let i = 0; i < length; i++)
        if (!Number.isNaN(valueAt(i)) && valueAt(i) > 0)
          context.lineTo(plot.x(i + 1), plot.y(valueAt(i)));
      context.stroke();
      return;
    }
    const radius = length < 150 ? 3 : length < 600 ? 2.2 : 1.5;
    context.beginPath();
    for (let i = 0; i < length; i++) {
      if (Number.isNaN(valueAt(i)) || !(valueAt(i) > 0))
        continue;
      context.moveTo(plot.x(i + 1) + radius, plot.y(valueAt(i)));
      context.arc(plot.x(i + 1), plot.y(valueAt(i)), radius, 0, 7);
    }
    context.fill();
    return;
  }
  let column = -1, least = Infinity, most = -Infinity;
  const put = () => {
    if (most > 0)
      context.fillRect(plot.left + column - .5, plot.y(most) - 1, mark === 'line' ? 1.5 : 1, Math.max(2, plot.y(least) - plot.y(most) + 1));
  };
  for (let i = 0; i < length; i++) {
    const value = valueAt(i), x = Math.floor(plot.x(i + 1) - plot.left);
    if (x !== column) {
      put();
      column = x;
      least = Infinity;
      most = -Infinity;
    }
    if (value > 0) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  put();
}

// --- chunk sizes ---

const sizes = {at: -1, order: null};

// Without scheduling steps in the trace: the chunks as they were given.
function orderOfChunks() {
  if (run.cuts === 0 && !sizes.order)
    sizes.order = Uint32Array.from({length: N}, (_, i) => i).sort((a, b) => given[a] - given[b]);
}

const stepCount = () => run.cuts > 0 ? run.cuts : N;
const sizeOf = i => run.cuts > 0 ? cuts.size[i] : count[sizes.order[i]];
const formulaOf = i => run.cuts > 0 ? cuts.formula[i] : NaN;

function drawSizes() {
  if (!document.body.classList.contains('has-trace') || stepCount() === 0)
    return;
  orderOfChunks();
  let least = Infinity, most = 0;
  for (let i = 0; i < stepCount(); i++)
    for (const value of [sizeOf(i), formulaOf(i)])
      if (value > 0) {
        least = Math.min(least, value);
        most = Math.max(most, value);
      }
  const isLogarithmic = most > least * 60;
  sizes.extent = [least, most];
  const plot = drawFrame('sizes', makeAxis(1, Math.max(2, stepCount()), false),
    isLogarithmic ? makeAxis(least / 1.25, most * 1.25, true) : makeAxis(0, Math.max(1, most * 1.06), false),
    run.cuts > 0 ? 'scheduling step' : 'chunk, in the order of assignment', 'iterations in the chunk');
  sizes.plot = plot;
  drawSeries(plot, stepCount(), sizeOf, palette.own, 'dot');
  drawSeries(plot, stepCount(), formulaOf, palette.vain, 'line');
  if (sizes.at >= 0 && !isPrinting) {
    plot.context.fillStyle = palette.mark;
    plot.context.fillRect(plot.x(sizes.at + 1) - .5, plot.top, 1, plot.bottom - plot.top);
  }
}

function tellSize() {
  if (sizes.at < 0)
    return;
  const i = sizes.at;
  let text = `Chunk ${group(i + 1)} to be given has ${group(sizeOf(i))} iterations.`;
  if (run.cuts > 0)
    text = `Scheduling step ${group(i + 1)} of ${group(run.cuts)}, at ${timeText(cuts.time[i])}` +
      (cuts.worker[i] >= 0 ? ` for worker ${cuts.worker[i]}` : '') + `: ${group(sizeOf(i))} iterations were cut` +
      (Number.isNaN(formulaOf(i)) ? '.' : `; ${run.technique} by itself said ${group(formulaOf(i))}.`);
  show(byId('sizes-story'), text);
  drawSizes();
}

// --- finishing times ---

const finish = {at: -1};

function drawFinish() {
  if (!document.body.classList.contains('has-finish'))
    return;
  const stayed = workers.filter(worker => worker.finish > 0 && worker.lost < 0), done = (stayed.length > 0 ? stayed : workers).map(worker => worker.finish);
  const end = Math.max(run.elapsed, ...done), least = Math.min(...done), mean = done.reduce((sum, value) => sum + value, 0) / done.length;
  const low = least < .6 * end ? 0 : Math.max(0, least - .35 * (end - least));
  const plot = drawFrame('finish', makeAxis(.5, workers.length + .5, false), makeAxis(low, end + (end - low) * .04, false),
    'worker, by node and rank', 'seconds after the first assignment', place => String(workers[place - 1].rank));
  const {context} = plot, slot = (plot.right - plot.left) / workers.length;
  finish.plot = plot;
  context.fillStyle = palette.idle;
  for (const worker of workers)
    if (worker.finish > 0 && worker.lost < 0)
      context.fillRect(plot.x(worker.index + 1) - slot * .4, plot.y(end), Math.max(.6, slot * .8), plot.y(worker.finish) - plot.y(end));
  const across = (value, dashes) => {
    context.strokeStyle = palette.mark;
    context.lineWidth = 1.2;
    context.setLineDash(dashes);
    context.beginPath();
    context.moveTo(plot.left, plot.y(value));
    context.lineTo(plot.right, plot.y(value));
    context.stroke();
    context.setLineDash([]);
  };
  across(end, []);
  across(mean, [6, 4]);
  const radius = slot > 10 ? 3.5 : slot > 4 ? 2.4 : 1.5;
  for (const worker of workers) {
    if (!(worker.finish > 0))
      continue;
    const x = plot.x(worker.index + 1), y = plot.y(Math.max(low, worker.finish));
    if (worker.lost < 0) {
      context.fillStyle = palette.own;
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      context.fill();
    } else {
      drawCross(context, x, y, 4, palette.vain);
    }
  }
  if (finish.at >= 0 && !isPrinting) {
    context.strokeStyle = palette.mark;
    context.strokeRect(plot.x(finish.at + 1) - 5, plot.y(Math.max(low, workers[finish.at].finish)) - 5, 10, 10);
  }
}

function drawCross(context, x, y, size, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x - size, y - size);
  context.lineTo(x + size, y + size);
  context.moveTo(x + size, y - size);
  context.lineTo(x - size, y + size);
  context.stroke();
}

function tellFinish() {
  if (finish.at < 0)
    return;
  const worker = workers[finish.at];
  show(byId('finish-story'), !(worker.finish > 0) ? `${nameOf(worker)} completed no chunk.`
    : `${nameOf(worker)} finished ${worker.finish.toFixed(Math.min(6, decimals))} s after the first assignment` +
      (worker.lost >= 0 ? ', and was lost.' : `, ${durationText((run.elapsed - worker.finish) / run.tick)} before the end of the loop.`));
  drawFinish();
}

// Lets a mouse and the keys choose one of the items of a plot.
function listenToPlot(id, state, length, tellIt) {
  const holder = byId(id + '-box');
  const choose = i => {
    state.at = Math.max(0, Math.min(length() - 1, i));
    requestAnimationFrame(tellIt);
  };
  holder.addEventListener('pointermove', event => {
    if (state.plot)
      choose(Math.floor((placeIn(holder, event)[0] - state.plot.left) / (state.plot.right - state.plot.left) * length()));
  });
  holder.addEventListener('keydown', event => {
    const tenth = Math.max(1, Math.round(length() / 10));
    const move = {ArrowRight: 1, ArrowLeft: -1, PageDown: tenth, PageUp: -tenth, Home: -Infinity, End: Infinity}[event.key];
    if (move === undefined || event.ctrlKey || event.altKey || event.metaKey)
      return;
    event.preventDefault();
    choose(state.at < 0 && Number.isFinite(move) ? 0 : state.at + move);
  });
}

// --- legends and descriptions ---

function addLegend(list, paint, label) {
  const item = document.createElement('li'), swatch = document.createElement('canvas');
  swatch.setAttribute('aria-hidden', 'true');
  item.append(swatch, document.createTextNode(label));
  list.append(item);
  const context = prepare(swatch, 22, 12);
  context.clearRect(0, 0, 22, 12);
  paint(context, swatch);
}

function paintClass(k) {
  return (context, swatch) => {
    const image = new ImageData(swatch.width, swatch.height), dots = new Uint32Array(image.data.buffer);
    for (let i = 0; i < dots.length; i++)
      dots[i] = isHatched(k, Math.floor(i % swatch.width / ratio), Math.floor(i / swatch.width / ratio)) ? palette.hatching[k] : palette.classes[k];
    context.putImageData(image, 0, 0);
  };
}

const paintDot = context => {
  context.fillStyle = palette.own;
  context.beginPath();
  context.arc(11, 6, 3.5, 0, 7);
  context.fill();
};
const paintLine = (colour, dashes) => context => {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.setLineDash(dashes);
  context.beginPath();
  context.moveTo(0, 6);
  context.lineTo(22, 6);
  context.stroke();
};

function drawLegends() {
  const present = new Set(kind);
  for (const id of ['gantt', 'sizes', 'finish'])
    byId(id + '-legend').replaceChildren();
  for (let k = 0; k < CLASSES; k++)
    if (present.has(k))
      addLegend(byId('gantt-legend'), paintClass(k), run.labels[k]);
  addLegend(byId('gantt-legend'), context => {
    context.fillStyle = palette.idle;
    context.fillRect(0, 0, 22, 12);
  }, 'idle');
  if (workers.some(worker => worker.lost >= 0))
    addLegend(byId('gantt-legend'), context => drawCross(context, 11, 6, 4, palette.mark), 'worker lost');
  if (run.events.length > 0)
    addLegend(byId('gantt-legend'), context => {
      context.fillStyle = palette.vain;
      drawPointer(context, 11);
    }, 'event');
  if (run.begin + run.elapsed / run.tick < run.end)
    addLegend(byId('gantt-legend'), paintLine(palette.mark, [6, 4]), 'all results are stored');
  addLegend(byId('sizes-legend'), paintDot, 'what was cut');
  if (run.cuts > 0)
    addLegend(byId('sizes-legend'), paintLine(palette.vain, []), `what ${run.technique} said, before bounds and weights`);
  addLegend(byId('finish-legend'), paintDot, 'worker finished');
  if (workers.some(worker => worker.lost >= 0))
    addLegend(byId('finish-legend'), context => drawCross(context, 11, 6, 4, palette.vain), 'lost');
  addLegend(byId('finish-legend'), paintLine(palette.mark, []), 'end of the loop');
  addLegend(byId('finish-legend'), paintLine(palette.mark, [6, 4]), 'mean');
  addLegend(byId('finish-legend'), context => {
    context.fillStyle = palette.idle;
    context.fillRect(0, 0, 22, 12);
  }, 'idle in the tail');
}

function describe() {
  byId('gantt-description').textContent = `${byNode ? 'A row for each node, with the share of its workers that are busy, and of opened nodes' : 'A row'} for each of ` +
    `${group(workers.length)} workers on ${group(nodes.length)} nodes, time from left to right up to ${timeText(run.end)}, with ${group(N)} chunks. ` +
    'The stories of the chunks are read out as you move; the table of workers has the sums.';
  if (sizes.extent)
    byId('sizes-description').textContent = `${group(stepCount())} scheduling steps, with ${group(sizes.extent[0])} to ${group(sizes.extent[1])} iterations; ` +
      `the first has ${group(sizeOf(0))}, the middle one ${group(sizeOf(stepCount() >> 1))}, the last ${group(sizeOf(stepCount() - 1))}.`;
  byId('finish-description').textContent = 'The finishing time of each worker, which the table of workers has as a column.';
  show(byId('sizes-story'), byId('sizes-description').textContent);
  show(byId('finish-story'), 'Point at a worker, or choose one with the arrow keys.');
}

// --- the tables ---

// Shows an event in the Gantt chart: a twentieth of the run around it, at the row of its worker.
function goToEvent([time, rank]) {
  const worker = workers.find(other => other.rank === rank), half = run.end / 40;
  if (worker && byNode) {
    nodes.find(node => worker.index >= node.begin && worker.index < node.end).isOpen = true;
    layRows();
    pictureKey = '';
  }
  setView(time - half, time + half);
  focus.isShown = true;
  focus.isPinned = false;
  focus.row = worker ? rows.findIndex(row => row.worker === worker) : 0;
  moveToRow(focus.row);
  if (worker && worker.end > worker.begin)
    focus.chunk = Math.max(worker.begin, chunkFrom(worker, time + 1e-9) - 1);
  bringIntoSight();
  setView(time - half, time + half);
  tell(time);
  byId('gantt-section').scrollIntoView();
  box.focus({preventScroll: true});
}

// Makes the time of each event a button that shows it.
function linkEvents() {
  if (!document.body.classList.contains('has-events'))
    return;
  run.events.forEach((event, i) => {
    const cell = byId('events').tBodies[0].rows[i].cells[0], button = document.createElement('button');
    button.type = 'button';
    button.title = 'Show it in the chart';
    button.textContent = cell.textContent;
    cell.replaceChildren(button);
    button.addEventListener('click', () => goToEvent(event));
  });
}

// Makes the heads of its columns buttons by which it is sorted.
function makeSortable(table) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const sign = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
      const keyed = [...body.rows].map(row => [row.cells[column].dataset.value, row.cells[column].textContent, row]);
      keyed.sort((a, b) => sign * (a[0] !== undefined && b[0] !== undefined ? a[0] - b[0] : a[1].localeCompare(b[1])));
      for (const other of table.tHead.rows[0].cells)
        other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', sign > 0 ? 'ascending' : 'descending');
      body.append(...keyed.map(entry => entry[2]));
    });
  });
}

// --- all of it ---

function drawAll() {
  ratio = isPrinting ? 3 : Math.min(3, window.devicePixelRatio || 1);
  readPalette(isPrinting);
  pictureKey = overviewKey = '';
  layRows();
  drawLegends();
  if (document.body.classList.contains('has-trace'))
    drawGantt();
  drawSizes();
  drawFinish();
}

function print(isOn) {
  isPrinting = isOn;
  drawAll();
}

readChunks();
readCuts();
drawAll();
describe();
listenToPointer();
listenToKeys();
listenToPlot('sizes', sizes, stepCount, tellSize);
listenToPlot('finish', finish, () => workers.length, tellFinish);
makeSortable(byId('workers'));
linkEvents();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
window.addEventListener('beforeprint', () => print(true));
window.addEventListener('afterprint', () => print(false));

let lastWidth = 0;
new ResizeObserver(entries => {
  const width = entries[0].contentRect.width, isOther = Math.abs(width - lastWidth) >= 1;
  lastWidth = width; // a story that is longer changes the height alone
  if (isOther && !isPrinting)
    drawAll();
}).observe(document.querySelector('main'));
document.documentElement.dataset.ready = Math.round(performance.now() - began);

})();
