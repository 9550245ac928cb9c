// SPDX-License-Identifier: MIT
// Colours, canvases, and painting rows of chunks dot by dot into a picture, so that a frame takes as long with a million
// chunks as with a thousand: what is narrower than a dot adds to the busy share of the dot.

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
  palette.on = palette.classes.map(colour => .3 * (colour & 255) + .59 * (colour >> 8 & 255) + .11 * (colour >> 16 & 255) > 120 ? '#000000' : '#ffffff');
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
  const closed = byNode ? nodes.length : workers.length, room = isPrinting ? 390 : 560;
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
