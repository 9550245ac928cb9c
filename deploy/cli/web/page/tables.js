// SPDX-License-Identifier: MIT
// The tables of jobs and of workers. Rows stay the same elements as long as what they show is there, so that focus and selections stay.

function newRow(kinds) {
  const row = document.createElement('tr');
  for (const kind of kinds) {
    const cell = document.createElement(kind === 'head' ? 'th' : 'td');
    if (kind === 'head')
      cell.scope = 'row';
    else if (kind)
      cell.className = kind;
    row.append(cell);
  }
  return row;
}

// Puts the rows into the body in this order, and touches only those that are elsewhere.
function arrange(body, rows) {
  rows.forEach((row, i) => {
    if (body.children[i] !== row)
      body.insertBefore(row, body.children[i] ?? null);
  });
  while (body.children.length > rows.length)
    body.lastElementChild.remove();
}

const setClass = (element, name) => {
  if (element.className !== name)
    element.className = name;
};

// --- jobs ---

const jobRows = new Map();

function newJobRow(id) {
  const row = newRow(['head', 'text name', 'text name', 'text state', 'text', '', '', '', '', '', '', '']), button = document.createElement('button');
  const bar = document.createElement('progress'), text = document.createElement('span');
  button.type = 'button';
  button.textContent = String(id);
  button.setAttribute('aria-label', `Show job ${id}`);
  row.cells[0].append(button);
  bar.max = 1;
  bar.setAttribute('aria-label', `Progress of job ${id}`);
  row.cells[4].append(bar, text);
  row.dataset.job = String(id);
  row.addEventListener('click', () => {
    choose(id);
    draw();
    askForMore();
  });
  return row;
}

function fillJobRow(row, job) {
  const bar = row.cells[4].firstChild, isSelected = selected()?.id === job.id;
  const texts = [null, job.name ?? '', job.title ?? '', job.waits_for ? `waits: ${job.waits_for}` : job.state, null, job.state === 'waiting' ? '' : rateText(isOver(job) ? job.rate_per_s : rateOf(job)), job.state === 'waiting' ? '' : endText(job),
    isOver(job) || job.state === 'waiting' ? '' : `${group(job.busy)} of ${group(job.workers)}`, job.lost > 0 ? group(job.lost) : '', job.failed > 0 ? group(job.failed) : '',
    group(job.priority), group(job.weight)];
  texts.forEach((text, i) => text !== null && setText(row.cells[i], text));
  if (row.cells[1].title !== texts[1])
    row.cells[1].title = texts[1];
  const part = hasTotal(job) ? Math.min(1, job.done / job.total) : 0;
  bar.hidden = !hasTotal(job);
  if (bar.value !== part)
    bar.value = part;
  setText(row.cells[4].lastChild, job.state === 'waiting' && job.done === 0 ? '' : percentText(job));
  setClass(row, job.state + (isSelected ? ' selected' : ''));
  const button = row.cells[0].firstChild, pressed = String(isSelected);
  if (button.getAttribute('aria-pressed') !== pressed)
    button.setAttribute('aria-pressed', pressed);
}

function drawJobs() {
  const jobs = jobsOf(state.showsOver || state.session?.kind === 'run'), chosenJob = selected();
  if (chosenJob && !jobs.includes(chosenJob))
    jobs.push(chosenJob);
  for (const id of jobRows.keys())
    if (!jobs.some(job => job.id === id))
      jobRows.delete(id);
  arrange(byId('jobs').tBodies[0], jobs.map(job => {
    if (!jobRows.has(job.id))
      jobRows.set(job.id, newJobRow(job.id));
    fillJobRow(jobRows.get(job.id), job);
    return jobRows.get(job.id);
  }));
  const isRun = state.session?.kind === 'run', empty = [[2, jobs.every(job => !job.name)], [9, jobs.every(job => !(job.lost > 0))], [10, jobs.every(job => !(job.failed > 0))], [11, isRun], [12, isRun]];
  setClass(byId('jobs'), empty.filter(([, isEmpty]) => isEmpty).map(([column]) => `empty-${column}`).join(' '));
  const waiting = (state.session?.jobs.waiting ?? 0) - state.waiting.length, more = [];
  if (state.more > 0)
    more.push(`${count(state.more, 'other job')} ${state.more === 1 ? 'runs' : 'run'}`);
  if (state.session?.kind === 'set' && waiting > 0 && link === 'live')
    more.push(`${count(waiting, 'other job')} ${waiting === 1 ? 'waits' : 'wait'}`);
  setText(byId('jobs-more'), jobs.length === 0 && state.session ? 'No job runs or waits.' : more.length > 0 ? more.join(', ') + '; hdss jobs lists all.' : '');
  byId('over-label').hidden = state.session?.kind !== 'set' || state.over.length === 0;
}

function moveInJobs(event) {
  const step = {ArrowUp: -1, ArrowDown: 1}[event.key], row = event.target.closest('tr');
  if (!step || !row)
    return;
  const other = step < 0 ? row.previousElementSibling : row.nextElementSibling;
  other?.querySelector('button').focus();
  event.preventDefault();
}

// --- failed tasks ---

function drawFailures(job) {
  const known = state.tasks?.job === job.id ? state.tasks : null, body = byId('failures').querySelector('tbody');
  byId('failures').hidden = !(known?.failed > 0);
  if (byId('failures').hidden)
    return;
  arrange(body, known.failures.map((failure, i) => {
    const row = body.children[i] ?? newRow(['', 'text', 'text command', 'text command']);
    [group(failure.task), failure.end, failure.command, failure.error].forEach((text, cell) => setText(row.cells[cell], text));
    return row;
  }));
  setText(byId('failures-more'), known.failed > known.failures.length ? `The last ${group(known.failures.length)} of ${group(known.failed)}; hdss log lists all.` : '');
}

// --- ranks ---

const nodeBodies = new Map(), opened = new Map(), OPEN_MAX = 64;

const MASTERS = -2, NO_NODE = -1;

// [[node, ranks], ...]: masters, and then nodes in the order of the numbers; workers of unknown nodes stand behind.
function nodesOf(ranks) {
  const nodes = new Map();
  for (const rank of ranks) {
    const key = rank.role === 'master' ? MASTERS : rank.node ?? NO_NODE;
    if (!nodes.has(key))
      nodes.set(key, []);
    nodes.get(key).push(rank);
  }
  return [...nodes].sort(([a], [b]) => (a === NO_NODE) - (b === NO_NODE) || a - b);
}

function busyShare(rank) {
  if (rank.role === 'master')
    return rank.workers > 0 ? rank.busy / rank.workers : NaN;
  const chunk = rank.chunk ? rank.chunk.since_s : 0, busy = (rank.compute_s ?? 0) + chunk, all = busy + (rank.wait_s ?? 0);
  return isNumber(rank.compute_s) && all > 0 ? busy / all : NaN;
}

const shareText = share => isNumber(share) ? `${(100 * share).toFixed(0)} %` : '–';

function chunkText(chunk) {
  if (!chunk)
    return '';
  const range = chunk.count === 1 ? group(chunk.first) : `${group(chunk.first)} to ${group(chunk.first + chunk.count - 1)}, ${group(chunk.left)} left`;
  return `${chunk.command ?? range}, for ${spanText(chunk.since_s)}`;
}

function newShareRow(kind) {
  const row = newRow(['head', 'text state', '', '', 'text', 'text']), bar = document.createElement('progress');
  bar.max = 1;
  bar.setAttribute('aria-label', 'Busy share');
  row.cells[4].append(bar, document.createElement('span'));
  row.className = kind;
  return row;
}

function fillShare(cell, share) {
  const value = isNumber(share) ? share : 0;
  cell.firstChild.hidden = !isNumber(share);
  if (cell.firstChild.value !== value)
    cell.firstChild.value = value;
  setText(cell.lastChild, shareText(share));
}

function fillRankRow(row, rank) {
  const isMaster = rank.role === 'master';
  setText(row.cells[0], `${rank.role} ${rank.rank}`);
  setText(row.cells[1], rank.state ?? 'its master knows');
  setText(row.cells[2], group(rank.done));
  setText(row.cells[3], isMaster ? '' : group(rank.chunks));
  fillShare(row.cells[4], busyShare(rank));
  setText(row.cells[5], isMaster ? `serves ${count(rank.workers, 'worker')}, of which ${group(rank.busy)} compute` : chunkText(rank.chunk));
  setClass(row, `rank ${rank.state ?? 'unknown'}`);
}

function newNodeBody(node) {
  const body = document.createElement('tbody'), head = newShareRow('node'), button = document.createElement('button');
  button.type = 'button';
  button.addEventListener('click', () => {
    opened.set(node, button.getAttribute('aria-expanded') !== 'true');
    drawnRanks = null;
    draw();
  });
  head.cells[0].append(button);
  body.append(head);
  return body;
}

function mean(values) {
  const known = values.filter(isNumber);
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : NaN;
}

const sumOf = (ranks, field) => ranks.some(rank => isNumber(rank[field])) ? ranks.reduce((sum, rank) => sum + (rank[field] ?? 0), 0) : NaN;

function nodeState(node, ranks) {
  const known = ranks.filter(rank => rank.state && rank.state !== 'lost').length, computing = ranks.filter(rank => rank.state === 'computing').length;
  const lost = ranks.filter(rank => rank.state === 'lost').length, ending = lost > 0 ? `, ${group(lost)} lost` : '';
  if (node === MASTERS || known === 0)
    return count(ranks.length, node === MASTERS ? 'master' : 'worker') + ending;
  return `${group(computing)} of ${count(ranks.length, 'worker')} ${ranks.length === 1 ? 'computes' : 'compute'}${ending}`;
}

function fillNode(body, node, ranks, isOpen) {
  const head = body.rows[0], button = head.cells[0].firstChild, host = node === MASTERS ? '' : ranks.find(rank => rank.host)?.host;
  setText(button, `${isOpen ? '▾' : '▸'} ${node === MASTERS ? 'masters' : node === NO_NODE ? 'node not known' : `node ${node}`}${host ? ` (${host})` : ''}`);
  button.setAttribute('aria-expanded', String(isOpen));
  setText(head.cells[1], nodeState(node, ranks));
  setText(head.cells[2], group(sumOf(ranks, 'done')));
  setText(head.cells[3], node === MASTERS ? '' : group(sumOf(ranks, 'chunks')));
  fillShare(head.cells[4], mean(ranks.filter(rank => rank.state !== 'lost').map(busyShare)));
  const shown = isOpen ? ranks : [];
  while (body.rows.length > shown.length + 1)
    body.lastElementChild.remove();
  shown.forEach((rank, i) => {
    if (!body.rows[i + 1])
      body.append(newShareRow('rank'));
    fillRankRow(body.rows[i + 1], rank);
  });
}

let drawnRanks = null;

// Ranks come once a second, jobs ten times.
function drawRanks(job) {
  const table = byId('ranks'), ranks = state.ranksOf === job.id ? state.ranks : [];
  setText(byId('ranks-more'), ranks.length === 0 ? (job.state === 'waiting' ? 'It has no workers yet.' : isOver(job) ? 'It is over.' : 'The workers are told in a moment.')
    : isOver(job) ? 'It is over; so they were at the last look.' : state.ranksMore ? `The first ${group(ranks.length)} ranks.` : '');
  if (ranks === drawnRanks)
    return;
  drawnRanks = ranks;
  const nodes = nodesOf(ranks), usual = ranks.length <= OPEN_MAX;
  const keys = new Set(nodes.map(([node]) => node));
  for (const [node, body] of nodeBodies)
    if (!keys.has(node)) {
      body.remove();
      nodeBodies.delete(node);
    }
  nodes.forEach(([node, list], i) => {
    if (!nodeBodies.has(node))
      nodeBodies.set(node, newNodeBody(node));
    if (table.tBodies[i] !== nodeBodies.get(node)) // what is moved loses the focus
      table.insertBefore(nodeBodies.get(node), table.tBodies[i] ?? null);
    fillNode(nodeBodies.get(node), node, list, opened.get(node) ?? usual);
  });
}
