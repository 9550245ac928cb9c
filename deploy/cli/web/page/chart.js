// SPDX-License-Identifier: MIT
// The rate of the selected job since its beginning, as a line.

const WINDOW_MS = 10000, WINDOW_LEAST_MS = 3000;

// [[ms, rate], ...]: each over the last ten seconds, or three at least where there are no samples of more.
function ratesOf(samples) {
  const rates = [];
  let first = 0;
  for (let i = 1; i < samples.length; i++) {
    while (first + 1 < i && samples[i][0] - samples[first + 1][0] >= WINDOW_MS)
      first++;
    const [ms, done] = samples[first], [now, more] = samples[i];
    if (now - ms >= WINDOW_LEAST_MS)
      rates.push([now, Math.max(0, 1000 * (more - done) / (now - ms))]);
  }
  return rates;
}

// A round number that is at least this.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map(factor => factor * power).find(round => round >= value * (1 - 1e-9));
}

const colourOf = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function prepareChart(canvas) {
  const box = canvas.parentElement, ratio = devicePixelRatio, width = box.clientWidth, height = box.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const size = .8 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  context.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return {context, width, height, left: 5.2 * size, right: width - size, top: size, bottom: height - 2.4 * size, size};
}

function drawAxes({context, left, right, top, bottom, size}, most, spanMs, isLive) {
  const minutes = spanMs / 60000, step = [0.25, 0.5, 1, 2, 5, 10, 20, 60, 120, 360, 1440].find(step => minutes / step <= Math.max(2, (right - left) / 8 / size)) ?? 10080;
  context.fillStyle = colourOf('faint');
  context.strokeStyle = colourOf('line');
  context.lineWidth = 1;
  context.textBaseline = 'middle';
  for (let i = 0; i <= 4; i++) {
    const y = Math.round(bottom - (bottom - top) * i / 4) + .5;
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(right, y);
    context.stroke();
    context.textAlign = 'right';
    context.fillText(rateText(most * i / 4), left - size / 2, y);
  }
  for (let ago = 0; ago <= minutes + 1e-9; ago += step) {
    const x = right - (right - left) * ago / minutes;
    context.textAlign = ago === 0 ? 'right' : 'center';
    context.fillText(ago === 0 ? (isLive ? 'now' : 'end') : ago < 1 ? `−${Math.round(ago * 60)} s` : ago < 60 ? `−${ago} min` : `−${ago / 60} h`, x, bottom + 1.3 * size);
  }
}

function drawRate(job) {
  const chart = prepareChart(byId('rate')), rates = ratesOf(samplesOf(job));
  if (rates.length < 2) {
    chart.context.fillStyle = colourOf('faint');
    chart.context.textAlign = 'center';
    chart.context.fillText(job.state === 'waiting' ? 'It waits.' : isOver(job) ? 'Nothing is known of its rate.' : 'The line begins in some seconds.', chart.width / 2, chart.height / 2);
    setText(byId('rate-story'), '');
    return;
  }
  const end = rates.at(-1)[0], spanMs = Math.max(60000, end - rates[0][0]);
  const shown = rates.filter(([ms]) => ms >= end - spanMs), values = shown.map(([, rate]) => rate), most = Math.max(...values), least = Math.min(...values);
  const scale = most > 0 ? roundUp(most) : 1, {context, left, right, top, bottom} = chart;
  drawAxes(chart, scale, spanMs, link === 'live' && !isOver(job));
  context.strokeStyle = colourOf('own');
  context.lineWidth = 2;
  context.lineJoin = 'round';
  context.beginPath();
  for (const [ms, rate] of shown)
    context.lineTo(right - (right - left) * (end - ms) / spanMs, bottom - (bottom - top) * rate / scale);
  context.stroke();
  setText(byId('rate-story'), `${isOver(job) || link !== 'live' ? 'At last' : 'Now'} ${rateText(shown.at(-1)[1])}, between ${rateText(least)} and ${rateText(most)} in the last ${spanText((end - shown[0][0]) / 1000)}; each point is a mean of 10 s or more.`);
}
