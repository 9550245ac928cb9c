// SPDX-License-Identifier: MIT
// Draws all of it, and begins.

const SUMMARY_MS = 15000;
let summaryAt = 0, summaryLink = '', isDue = false;

function drawHead() {
  const session = state.session, words = {connecting: 'connecting', live: 'live', ended: 'ended', refused: 'refused', lost: 'connection lost'};
  setText(byId('title'), session ? `${session.kind === 'set' ? 'Set' : 'Run'} ${session.name}` : 'HDSS');
  setText(byId('session'), session ? `${count(session.ranks.workers, 'worker')}${session.ranks.masters > 0 ? `, ${count(session.ranks.masters, 'master')}` : ''} · ${session.host}` +
    `${session.user ? ` · ${session.user}` : ''} · since ${new Date(session.started).toLocaleString('en-GB')} · HDSS ${session.version}` +
    (session.kind === 'set' ? ` · ${group(session.jobs.running)} running, ${group(session.jobs.waiting)} waiting, ${group(countOver(session))} over` : '') : '');
  setText(byId('link'), words[link]);
  setClass(byId('link'), `link ${link}`);
  document.body.classList.toggle('stale', link !== 'live');
  const notes = {
    ended: `${session ? session.name : 'The run or set'} has ended${state.endedAt > 0 ? ` at ${timeText(state.endedAt)}` : ''}; this is its last state.`,
    lost: `The connection is lost. ${session ? 'This is the last state; it' : 'It'} is tried again by itself.`,
    refused: refusal === 404 ? 'The run or set is of an earlier version, which tells nothing by itself; hdss top shows it.'
      : token === '' ? 'This page needs the whole address that hdss page has said, with what stands behind the #.'
      : 'The token is not that of this server: hdss page may have been started anew. Open the address that it says.',
  };
  byId('note').hidden = !notes[link];
  setText(byId('note'), notes[link] ?? '');
}

function addTile(tiles) {
  const box = document.createElement('div'), term = document.createElement('dt'), text = document.createElement('dd');
  box.append(term, text);
  text.append(document.createElement('b'), document.createElement('small'));
  tiles.append(box);
}

function fillTiles(job) {
  const tiles = byId('tiles'), end = /^(in )?([^(]*)(?:\((.*)\))?$/.exec(endText(job));
  const values = [
    ['Done', percentText(job), hasTotal(job) ? `${group(job.done)} of ${group(job.total)}` : 'iterations; it may grow'],
    ['Rate', rateText(isOver(job) ? job.rate_per_s : rateOf(job)), isOver(job) ? 'mean' : `${rateText(job.rate_per_s)} since the start`],
    [isOver(job) ? 'Ended' : 'Ends', end[2].trim().replace(/^took .*/, job.state) || job.state, end[3] ? end[3] : isNumber(job.eta_s) ? 'from now' : ''],
    ['Elapsed', spanText(job.elapsed_s), job.began ? `began ${timeText(job.began)}` : ''],
    ['Workers', isOver(job) ? (job.workers > 0 ? group(job.workers) : '–') : `${group(job.busy)} of ${group(job.workers)}`, isOver(job) ? '' : 'compute'],
    ['Technique', job.technique ?? '–', job.topology ?? ''],
  ];
  while (tiles.children.length < values.length)
    addTile(tiles);
  values.forEach(([name, value, more], i) => {
    const [term, text] = tiles.children[i].children;
    setText(term, name);
    setText(text.children[0], value);
    setText(text.children[1], more);
  });
}

function fillLosses(job) {
  const lost = (state.ranksOf === job.id ? state.ranks : []).filter(rank => rank.state === 'lost'), words = [];
  if (job.lost > 0)
    words.push(`${count(job.lost, 'rank')} lost${lost.length > 0 ? ': ' + lost.slice(0, 20).map(rank => `${rank.role} ${rank.rank}${rank.host ? ` (${rank.host})` : ''}`).join(', ') + (lost.length > 20 ? ' and others' : '') : ''}.`);
  if (job.failed > 0)
    words.push(`${count(job.failed, 'iteration')} given up.`);
  byId('losses').hidden = words.length === 0;
  setText(byId('losses'), words.join(' '));
}

function fillLog(job) {
  const list = byId('log'), lines = state.log.filter(([, id]) => id === job.id).slice(-50).reverse();
  const key = lines.map(String).join('\n');
  if (list.dataset.key === key)
    return;
  list.dataset.key = key;
  list.replaceChildren(...lines.map(([ms, , text]) => {
    const item = document.createElement('li'), time = document.createElement('time');
    time.textContent = timeText(ms);
    item.append(time, text);
    return item;
  }));
}

function drawDetail() {
  const job = selected();
  byId('detail').hidden = !job;
  if (!job)
    return;
  setText(byId('detail-title'), `Job ${job.id}${job.name ? `, ${job.name}` : ''}: ${job.title}`);
  fillTiles(job);
  fillLosses(job);
  drawFailures(job);
  byId('cancel').hidden = isOver(job) || link !== 'live';
  fillLog(job);
  drawRate(job);
  drawRanks(job);
}

// For those who hear the page: in a sentence, and seldom.
function sayIt() {
  const job = selected(), now = Date.now();
  if (link === summaryLink && now - summaryAt < SUMMARY_MS)
    return;
  summaryAt = now;
  summaryLink = link;
  const words = [];
  if (link !== 'live')
    words.push(byId('note').textContent || 'Connecting.');
  if (state.session)
    words.push(`${group(state.session.jobs.running)} of the jobs run, ${group(state.session.jobs.waiting)} wait.`);
  if (job)
    words.push(`Job ${job.id} is ${job.state}, ${percentText(job)} done${isNumber(job.eta_s) && link === 'live' ? `, ends in ${spanText(job.eta_s)}` : ''}.`);
  setText(byId('summary'), words.join(' '));
}

function draw() {
  const job = selected();
  drawHead();
  drawJobs();
  drawDetail();
  sayIt();
  document.title = `${job ? `${percentText(job)} – ` : ''}${state.session ? state.session.name : 'HDSS'}${link === 'ended' ? ' has ended' : ''} – HDSS`;
}

// At most once a frame; a page that is not seen is drawn when it is.
function drawSoon() {
  if (isDue)
    return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    draw();
  });
}

readAddress();
restoreState();
byId('skip').addEventListener('click', event => {
  event.preventDefault(); // what stands behind the # is the job
  byId('jobs').parentElement.focus();
});
byId('shows-over').checked = state.showsOver;
byId('shows-over').addEventListener('change', event => {
  state.showsOver = event.target.checked;
  draw();
});
byId('jobs').addEventListener('keydown', moveInJobs);
byId('cancel').addEventListener('click', cancelJob);
addEventListener('hashchange', () => {
  readAddress();
  draw();
  wake();
});
addEventListener('online', () => wake());
addEventListener('pagehide', keepState);
addEventListener('resize', drawSoon);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawSoon);
document.addEventListener('visibilitychange', drawSoon);
setInterval(askForMore, 1000);
draw();
follow();
document.documentElement.dataset.ready = '1';
