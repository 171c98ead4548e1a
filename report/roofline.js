// Attempts, eager and compile under the roofs that the profiles imply.

import {drawAxes, drawLine, drawRule, makeChart, margins, ratioTicks} from './charts.js';
import {data} from './data.js';
import {hint} from './elements.js';
import {formatCount, formatDigits, formatTime, timeOf} from './figures.js';
import {describe, fillOf, legend, symbolOf, symbolPath} from './status.js';
import {hover} from './tip.js';

function attemptPoints(run, rate) {
  return run.trials.filter(t => t.ms).map(t => ({trial: t, y: rate(t.ms[0]), name: describe(t)}));
}

function baselinePoints(run, rate) {
  const baseline = (run.final && run.final.baseline) || {};
  return [['eager', 'PyTorch eager', 'square'], ['compile', 'torch.compile', 'diamond']]
      .filter(([key]) => baseline[key])
      .map(([key, name, shape]) => {
        const timing = baseline[key];
        return {name, shape, y: rate(timing.median_ms), ms: timeOf(timing)};
      });
}

function makeScales(size, roofs, ys) {
  const ridge = roofs.gflops / roofs.bandwidth[0].gbs;
  const x = d3.scaleLog(
      [Math.min(roofs.intensity, ridge) / 5, Math.max(roofs.intensity, ridge) * 5],
      [size.left, size.width - size.right]);
  const y = d3.scaleLog(
      [Math.min(d3.min(ys), roofs.gflops) / 3, Math.max(d3.max(ys), roofs.gflops) * 2],
      [size.height - size.bottom, size.top]);
  return {x, y, ridge};
}

function drawScales(svg, size, {x, y}) {
  const label = v => d3.format(v < 1 ? '.1~r' : ',d')(v);
  const ticks = domain => ratioTicks(domain[0], domain[1]);
  drawAxes(
      svg, size, x, y, {x: 'arithmetic intensity of the task (FLOP per byte)', y: 'GFLOP/s'},
      {valuesX: ticks(x.domain()), x: label, valuesY: ticks(y.domain()), y: label});
}

function drawPeak(svg, size, roofs, {x, y, ridge}) {
  const corner = Math.max(x.domain()[0], ridge);
  drawLine(svg, 'line s-soft', [x(corner), y(roofs.gflops)], [x(x.domain()[1]), y(roofs.gflops)]);
  svg.append('text')
      .attr('class', 'fill-soft')
      .attr('text-anchor', 'end')
      .attr('x', size.width - size.right)
      .attr('y', y(roofs.gflops) - 6)
      .text(`${formatDigits(roofs.gflops)} GFLOP/s`);
}

// Draws the roof of a bandwidth, as far as it is seen. Returns the intensities of its ends, or
// null.
function drawBandwidth(svg, className, gbs, roofs, {x, y}) {
  const from = Math.max(x.domain()[0], y.domain()[0] / gbs),
        to = Math.min(roofs.gflops / gbs, x.domain()[1]);
  if (to <= from) return null;
  drawLine(svg, className, [x(from), y(from * gbs)], [x(to), y(to * gbs)]);
  return {from, to};
}

function drawBandwidths(svg, roofs, scales) {
  const [own, ...levels] = roofs.bandwidth;
  const ends = drawBandwidth(svg, 'line s-soft', own.gbs, roofs, scales);
  levels.forEach(level => drawBandwidth(svg, 'rule', level.gbs, roofs, scales));
  if (!ends) return;
  const middle = Math.sqrt(ends.from * ends.to);
  svg.append('text')
      .attr('class', 'fill-soft')
      .attr('text-anchor', 'end')
      .attr('x', scales.x(middle) - 8)
      .attr('y', scales.y(middle * own.gbs) - 4)
      .text(`${formatDigits(own.gbs)} GB/s`);
}

function drawPoints(svg, points, place) {
  return svg.append('g').selectAll('path').data(points).join('path').attr('transform', place);
}

function drawMeasured(run, svg, attempts, baselines, place) {
  const marks = drawPoints(svg, attempts, place)
                    .attr('class', p => 'dot ' + fillOf(p.trial))
                    .attr('d', p => symbolOf(p.trial))
                    .style('cursor', 'pointer')
                    .on('click', p => run.select(p.trial.node));
  hover(marks, p => [...p.name, `${formatDigits(p.y)} GFLOP/s, ${formatTime(p.trial.ms)}`]);
  const compared = drawPoints(svg, baselines, place)
                       .attr('class', 'dot fill-ink')
                       .attr('d', p => symbolPath(p.shape, 80));
  hover(compared, p => [p.name, `${formatDigits(p.y)} GFLOP/s, ${formatTime(p.ms)}`]);
}

// Draws the best once more, over all other marks, and the names, which keep apart.
function drawNames(svg, attempts, baselines, across, y) {
  const best = attempts.filter(p => p.trial.isBest);
  drawPoints(svg, best, p => `translate(${across},${y(p.y)})`)
      .attr('class', 'dot fill-star')
      .attr('d', p => symbolOf(p.trial))
      .style('pointer-events', 'none');
  const names = [
    ...best.map(p => ({name: 'best', down: y(p.y)})),
    ...baselines.map(p => ({name: p.name, down: y(p.y)}))
  ].sort((a, b) => a.down - b.down);
  let lowest = -Infinity;
  for (const each of names) lowest = each.down = Math.max(each.down, lowest + 14);
  svg.append('g')
      .selectAll('text')
      .data(names)
      .join('text')
      .attr('x', across + 12)
      .attr('y', n => n.down + 4)
      .text(n => n.name);
}

function drawRoofline(run, roofs, attempts, baselines, svg, size) {
  const scales = makeScales(size, roofs, [...attempts, ...baselines].map(p => p.y));
  const across = scales.x(roofs.intensity);
  const place = p => `translate(${across},${scales.y(p.y)})`;
  drawScales(svg, size, scales);
  drawPeak(svg, size, roofs, scales);
  drawBandwidths(svg, roofs, scales);
  drawRule(svg, [across, size.top], [across, size.height - size.bottom]);
  drawMeasured(run, svg, attempts, baselines, place);
  drawNames(svg, attempts, baselines, across, scales.y);
}

function rooflineLegend(baselines) {
  return legend([
    ['star', 'fill-star', 'the best'], ['circle', 'fill-good', 'attempts that passed'],
    ['square', 'fill-ink', 'PyTorch eager'], ['diamond', 'fill-ink', 'torch.compile'],
    ['line', 's-soft', 'roofs of the task’s data']
  ].filter(([shape]) => shape !== 'diamond' || baselines.length > 1));
}

export function roofline(run) {
  const {task, roofs} = data;
  if (!roofs || !task.flops)
    return hint(
        'No roofline: no profile of this run states its roofs (the strategy may take no profiles, or the machine was not measured).');
  const rate = ms => task.flops / ms / 1e6;
  const attempts = attemptPoints(run, rate), baselines = baselinePoints(run, rate);
  const levels = roofs.bandwidth.slice(1).map(l => `${l.level} ${formatDigits(l.gbs)} GB/s`);
  return [
    makeChart(
        'Roofline', 320,
        (svg, width, height) =>
            drawRoofline(run, roofs, attempts, baselines, svg, margins(width, height))),
    rooflineLegend(baselines),
    hint(
        `Rates count the task's FLOPs as written (${
            formatCount(
                task.flops)}) per compulsory byte. Roofs: measured peak and the bandwidth of the level where the data lives, as the profiles imply them`,
        levels.length ? `; dashed: ${levels.join(', ')}.` : '.')
  ];
}
