// SPDX-License-Identifier: MIT
// Legends, descriptions and tables; the last script, which draws it all.

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
      addLegend(byId('gantt-legend'), paintClass(k), CLASS_LABELS[k]);
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

function makePage() {
  const has = {trace, cuts: run.cuts > 0, events: run.events.length > 0, failures: figures.task_failures?.length > 0, finish: workers.some(worker => worker.finish > 0), predicted: figures.predicted || simulatedReport};
  for (const [name, isThere] of Object.entries(has))
    document.body.classList.toggle(`has-${name}`, Boolean(isThere));
  makeHead(figures);
  makeTiles(figures);
  makeSummary(figures);
  makeFigures(figures);
  if (figures.predicted)
    makeAuto(figures);
  if (simulatedReport)
    makeSimulated(figuresOf(null, simulatedReport), figures);
  makeTreeSection(tree, figures);
  if (has.failures)
    makeFailures(figures.task_failures, sum((report.failed_tasks || []).map(range => range[1] || 0)));
  if (has.events)
    makeEvents(trace.events);
  makeWorkers(figures);
}

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
  byId('figures').open = isOn || byId('figures').dataset.wasOpen === 'yes';
  drawAll();
}

makePage();
drawAll();
describe();
listenToPointer();
listenToKeys();
listenToPlot('sizes', sizes, stepCount, tellSize);
listenToPlot('finish', finish, () => workers.length, tellFinish);
makeSortable(byId('workers'));
linkEvents();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
window.addEventListener('beforeprint', () => {
  byId('figures').dataset.wasOpen = byId('figures').open ? 'yes' : 'no';
  print(true);
});
window.addEventListener('afterprint', () => print(false));

let lastWidth = 0;
new ResizeObserver(entries => {
  const width = entries[0].contentRect.width, isOther = Math.abs(width - lastWidth) >= 1;
  lastWidth = width; // a story that is longer changes the height alone
  if (isOther && !isPrinting)
    drawAll();
}).observe(document.querySelector('main'));
document.documentElement.dataset.tick = run.tick;
document.documentElement.dataset.ready = Math.round(performance.now());
byId('note').hidden = true;
