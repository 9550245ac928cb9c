// SPDX-License-Identifier: MIT
// What the page knows of the session, and how it comes to know it: a stream of events, which is begun anew when it is lost, and questions for what is not in them.

const RETRY_MS = 500, RETRY_MAX_MS = 10000, SILENT_MS = 40000, WAITING_MAX = 100, OVER_MAX = 1000, RANKS_PAGE = 1000, RANKS_MAX = 10000, RANKS_MANY_MS = 5000;
const SAMPLE_MS = 1000, SAMPLES_MAX = 600, LOG_MAX = 200;

const state = {
  session: null, running: [], waiting: [], over: [], more: 0, // more: jobs that run and are not in the events
  ranks: [], ranksOf: 0, ranksMore: false,
  tasks: null, // {job, failed, failures, history} of the selected job, if it has tasks
  samples: {}, // of each job: [[ms, done], ...]
  log: [],     // [[ms, job, text], ...]
  endedAt: 0,
  showsOver: false,
};
let link = 'connecting', refusal = 0, chosen = 0, token = '';

// A pause until then, or until somebody has reason to try at once.
let wake = () => {};
const pause = ms => new Promise(done => {
  wake = done;
  setTimeout(done, ms);
});

const KEPT = 'state'; // its name in the storage of the session

// --- the address: the token and the job that is selected ---

// The token leaves the address at once, so that nobody reads it there or in the history.
function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1)), given = words.get('token');
  chosen = Number.parseInt(words.get('job') ?? '0', 10) || 0;
  try {
    if (given !== null && given !== sessionStorage.getItem('token'))
      sessionStorage.removeItem(KEPT); // of another server, which may have shown another session
    if (given !== null)
      sessionStorage.setItem('token', given);
    token = given ?? sessionStorage.getItem('token') ?? '';
  } catch {
    token = given ?? token;
    return;
  }
  if (given !== null)
    history.replaceState(null, '', chosen > 0 ? `#job=${chosen}` : location.pathname);
}

function choose(id) {
  chosen = id;
  history.replaceState(null, '', `#job=${id}`);
}

// --- what survives a reload ---

function keepState() {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(state));
  } catch {
    sessionStorage.removeItem(KEPT); // it is too long for that; what can be asked for is asked for anew
  }
}

function restoreState() {
  try {
    Object.assign(state, JSON.parse(sessionStorage.getItem(KEPT) ?? '{}'));
  } catch {
    // what was kept is of no use
  }
}

const isSame = (a, b) => a.name === b.name && a.pid === b.pid && a.host === b.host && a.started === b.started;

function forget() {
  Object.assign(state, {session: null, running: [], waiting: [], over: [], more: 0, ranks: [], ranksOf: 0, ranksMore: false, tasks: null, samples: {}, log: [], endedAt: 0});
}

// --- jobs ---

const jobsOf = showsOver => [...state.running, ...state.waiting, ...(showsOver ? state.over : [])];
const findJob = id => [...state.running, ...state.waiting, ...state.over].find(job => job.id === id);
const selected = () => findJob(chosen) ?? (chosen > 0 ? undefined : state.running[0]);

function note(job, text, ms = Date.now()) {
  state.log.push([ms, job, text]);
  if (state.log.length > LOG_MAX)
    state.log.shift();
}

// What is known of a job that is seen first: how it has begun, by the mean.
const beginningOf = (job, now) => isNumber(job.elapsed_s) && isNumber(job.rate_per_s) ? [[now - 1000 * job.elapsed_s, Math.max(0, job.done - job.rate_per_s * job.elapsed_s)]] : [];

function sample(job, now) {
  const samples = state.samples[job.id] ??= beginningOf(job, now);
  if (samples.length > 0 && now - samples.at(-1)[0] < SAMPLE_MS)
    return;
  samples.push([now, job.done]);
  if (samples.length > SAMPLES_MAX)
    state.samples[job.id] = samples.filter((_, i) => i % 2 === 0 || i >= SAMPLES_MAX / 2); // the older half is told of half as often
}

function noteChanges(before, job) {
  if (!before && job.began)
    note(job.id, 'began', Date.parse(job.began));
  else if (!before)
    note(job.id, `is ${job.state}`);
  else if (before.state !== job.state)
    note(job.id, `is ${job.state}`);
  if (job.lost > (before?.lost ?? 0))
    note(job.id, `${count(job.lost - (before?.lost ?? 0), 'rank')} lost, ${group(job.lost)} in all`);
  if (job.failed > (before?.failed ?? 0))
    note(job.id, `${count(job.failed - (before?.failed ?? 0), 'iteration')} given up`);
}

const countOver = session => session.jobs.done + session.jobs.failed + session.jobs.cancelled;

function takeEvent(event, isLast) {
  const now = Date.now(), before = new Map(state.running.map(job => [job.id, job])), session = state.session;
  if (session && !isSame(session, event.session))
    forget();
  const listed = session !== null && state.session !== null && session.jobs.waiting === event.session.jobs.waiting && countOver(session) === countOver(event.session);
  state.endedAt = 0;
  state.session = event.session;
  state.more = event.more;
  state.running = event.jobs;
  state.waiting = state.waiting.filter(job => !event.jobs.some(other => other.id === job.id));
  for (const job of event.jobs) {
    noteChanges(before.get(job.id), job);
    sample(job, now);
    before.delete(job.id);
  }
  for (const job of before.values()) {
    if (isLast && !(job.done >= job.total))
      state.running.push(job); // a set that ends keeps it for the next one
    else
      state.over.unshift({...job, state: 'over'});
  }
  if (!listed || before.size > 0)
    listsAreOld = true;
}

// --- questions ---

class Refusal extends Error {
  constructor(status) {
    super(`status ${status}`);
    this.status = status;
  }
}

async function request(target, signal, method = 'GET') {
  const answer = await fetch(target, {method, headers: {Authorization: `Bearer ${token}`}, cache: 'no-store', signal});
  if (!answer.ok)
    throw new Refusal(answer.status);
  return answer;
}

const ask = async target => (await request(target, AbortSignal.timeout(SILENT_MS))).json();

let listsAreOld = true, isAsking = false, ranksAt = 0;

function takeOver(jobs) {
  const known = new Map(state.over.map(job => [job.id, job]));
  state.over = jobs.reverse();
  for (const job of state.over)
    if (known.get(job.id)?.state === 'over' || (known.size > 0 && !known.has(job.id)))
      note(job.id, `is over: ${job.state}`);
}

async function askForLists() {
  if (!listsAreOld || state.session?.kind !== 'set')
    return;
  listsAreOld = false;
  state.waiting = state.session.jobs.waiting > 0 ? (await ask(`/v1/jobs?state=waiting&limit=${WAITING_MAX}`)).jobs : [];
  takeOver(countOver(state.session) > 0 ? (await ask(`/v1/jobs?state=over&limit=${OVER_MAX}`)).jobs : []);
}

async function askForRanks() {
  const job = selected(), ranks = [];
  if (!job || isOver(job) || job.state === 'waiting') {
    if (job && state.ranksOf !== job.id)
      Object.assign(state, {ranks: [], ranksOf: job.id, ranksMore: false});
    return;
  }
  if (state.ranksOf === job.id && state.ranks.length > RANKS_PAGE && Date.now() - ranksAt < RANKS_MANY_MS)
    return;
  ranksAt = Date.now();
  let next = 0;
  do {
    const page = await ask(`/v1/jobs/${job.id}/ranks?from=${next}&limit=${RANKS_PAGE}`);
    ranks.push(...page.ranks);
    next = page.next;
  } while (next !== null && next < RANKS_MAX);
  if (ranks.length > 0 || state.ranksOf !== job.id)
    Object.assign(state, {ranks, ranksOf: job.id, ranksMore: next !== null});
}

// Failed tasks, and when tasks ended.
async function askForTasks() {
  const job = selected();
  if (job?.kernel !== 'exec' || job.state === 'waiting') {
    state.tasks = null;
    return;
  }
  state.tasks = {job: job.id, ...await ask(`/v1/jobs/${job.id}/tasks`)};
}

// The samples of a job, with those from before the page was opened, as far as they are known.
function samplesOf(job) {
  const samples = state.samples[job.id] ?? [], known = state.tasks?.job === job.id ? state.tasks.history : [];
  if (samples.length < 2)
    return known.length > 0 ? known : samples;
  const [[began, before], [live]] = samples;
  return [samples[0], ...known.filter(([ms]) => ms > began && ms < live).map(([ms, done]) => [ms, before + done]), ...samples.slice(1)];
}

// Cancels the selected job after the user has said so once more.
async function cancelJob() {
  const job = selected();
  if (!job || !confirm(`Cancel job ${job.id}${job.name ? `, ${job.name}` : ''}? What runs of it is ended.`))
    return;
  try {
    await request(`/v1/jobs/${job.id}`, AbortSignal.timeout(SILENT_MS), 'DELETE');
    note(job.id, 'is being cancelled');
  } catch {
    note(job.id, 'could not be cancelled');
  }
  draw();
}

// Once a second, for thousands of ranks more seldom, while somebody looks. What fails is tried again.
async function askForMore() {
  if (isAsking || link !== 'live' || document.hidden)
    return;
  isAsking = true;
  try {
    await askForLists();
    await askForRanks();
    await askForTasks();
  } catch {
    listsAreOld = true;
  }
  isAsking = false;
  draw();
}

// --- the stream ---

function setLink(now) {
  link = now;
  draw();
}

// Calls `take` with the type and the data of each event in the answer. Throws where nothing has come for long.
async function readEvents(answer, take) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '', alarm;
  try {
    for (;;) {
      const silence = new Promise((_, fail) => { alarm = setTimeout(() => fail(new Error('silent')), SILENT_MS); });
      const {value, done} = await Promise.race([reader.read(), silence]);
      clearTimeout(alarm);
      if (done)
        return;
      text += value;
      const blocks = text.split('\n\n');
      text = blocks.pop();
      for (const block of blocks) {
        const lines = block.split('\n'), data = lines.find(line => line.startsWith('data: '));
        if (data)
          take(lines.includes('event: end') ? 'end' : 'message', JSON.parse(data.slice(6)));
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// Follows the events once. Returns how that ended: ended, lost or refused.
async function followOnce(onLive) {
  let end = 'lost';
  try {
    const answer = await request('/v1/events');
    await readEvents(answer, (type, event) => {
      takeEvent(event, type === 'end');
      if (type === 'end') {
        end = 'ended';
        state.endedAt = Date.now();
      } else
        onLive();
      drawSoon();
    });
  } catch (failure) {
    refusal = failure instanceof Refusal ? failure.status : 0;
    end = refusal === 410 ? 'ended' : [401, 403, 404].includes(refusal) ? 'refused' : end;
  }
  return end;
}

async function follow() {
  for (let delay = RETRY_MS; ; delay = Math.min(2 * delay, RETRY_MAX_MS)) {
    const end = await followOnce(() => {
      delay = RETRY_MS;
      if (link !== 'live')
        setLink('live');
    });
    if (end === 'ended' && state.endedAt === 0)
      state.endedAt = Date.now();
    setLink(end);
    keepState();
    await pause(end === 'refused' ? RETRY_MAX_MS : delay);
  }
}
