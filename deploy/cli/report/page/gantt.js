// SPDX-License-Identifier: MIT
// The Gantt chart: what is drawn around its rows, the part of the run that it shows, the pointer and the keys.

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

// The number of iterations, in chunks that have room for it.
function drawSizesWithin(context, width, height, top) {
  context.textAlign = 'center';
  for (let r = rowAt(top); r < rows.length && rows[r].y < top + height; r++) {
    const row = rows[r], middle = row.y - top + row.height / 2;
    if (!row.worker || row.height < 16)
      continue;
    eachChunk(row.worker, view, width - GUTTER, (i, a, b) => {
      const text = group(count[i]), room = b - a > 24 ? context.measureText(text).width + 8 : Infinity;
      if (b - a < room)
        return;
      const x = GUTTER + (a + b) / 2;
      if (kind[i] > 1) { // not on a hatching
        context.fillStyle = palette.ground;
        context.fillRect(x - room / 2 + 1, middle - 8, room - 2, 15);
      }
      context.fillStyle = kind[i] > 1 ? palette.ink : palette.on[kind[i]];
      context.fillText(text, x, middle);
    });
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
  drawSizesWithin(context, width, height, top);
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
    if (!drag) {
      onMove(event);
      return;
    }
    const moved = event.clientX - drag.x;
    drag.isMoved = drag.isMoved || Math.abs(moved) > 3;
    if (drag.isMoved)
      setView(drag.from - moved * drag.scale, drag.to - moved * drag.scale);
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
    if (x < GUTTER && byNode && row) {
      toggleNode(row);
      return;
    }
    focus.isPinned = !focus.isPinned && focus.chunk >= 0;
    if (!focus.isPinned)
      onMove(event);
    tell(timeAt(x));
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
    pan(step > 0 ? .1 : -.1);
  else if (focus.chunk < worker.begin || focus.chunk >= worker.end)
    focus.chunk = Math.max(worker.begin, Math.min(worker.end - 1, chunkFrom(worker, view.from)));
  else
    focus.chunk = Math.max(worker.begin, Math.min(worker.end - 1, focus.chunk + step));
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
