// The charts of a benchmark.

import {drawBars} from './bars.js';
import {fastP, seriesLegend, summarize, thresholds} from './bench_figures.js';
import {drawAxes, drawLine, drawRule, formatTick, makeChart, margins, ratioTicks} from './charts.js';
import {choice, element, hint} from './elements.js';
import {formatCount, formatPercent, formatRatio, formatSpeedup} from './figures.js';
import {hover} from './tip.js';

const categoryOf = row => row.category || 'unnamed';
const medianOf = (bench, row) => row[bench.baseline][0];
const solvedRows = (bench, rows) => rows.filter(r => r.passed && r[bench.baseline]);

function categorySeries(bench, categories, name, rows) {
  const values = new Map(), counts = new Map();
  for (const category of categories) {
    const own = rows.filter(r => categoryOf(r) === category);
    if (!own.length) continue;
    const sum = summarize(own, bench.baseline);
    values.set(category, sum.fallback);
    counts.set(
        category,
        `${formatRatio(sum.fallback)} with fallback, ${sum.solved} of ${own.length} passed`);
  }
  return {name, values, counts};
}

export function categoryBars(bench) {
  const categories = [...new Set(bench.rows.map(categoryOf))].sort();
  const series =
      bench.group(bench.rows).map(({name, rows}) => categorySeries(bench, categories, name, rows));
  const top = Math.max(1.2, d3.max(series.flatMap(s => [...s.values.values()])) * 1.12);
  return [
    makeChart(
        'Speedup by category', width => (width < 700 ? 330 : 300),
        (svg, width, height) => drawBars(svg, width, height, {
          groups: categories,
          series,
          top,
          slant: width / categories.length < 110,
          name: 'geometric mean speedup',
          format: v => formatTick(v),
          tell: (one, group) => one.counts.get(group)
        })),
    seriesLegend(bench),
    hint('Geometric mean over the tasks of a category; a task without a kernel counts as 1.')
  ];
}

// Draws the share of a group's rows that is faster than p, with a mark at each threshold.
function drawFastCurve(svg, bench, group, x, y, high) {
  const series = bench.names.indexOf(group.name) % 8;
  const share = p => fastP(group.rows, bench.baseline, p);
  const speedups = solvedRows(bench, group.rows).map(r => medianOf(bench, r)).sort(d3.ascending);
  const points = [0.25, ...speedups, high].map(p => [x(p), y(share(p))]);
  svg.append('path')
      .attr('class', 'line s' + series)
      .attr('d', d3.line().curve(d3.curveStepAfter)(points));
  const marks = svg.append('g')
                    .selectAll('circle')
                    .data(thresholds.filter(p => p >= 0.25))
                    .join('circle')
                    .attr('class', 'dot f' + series)
                    .attr('r', 4)
                    .attr('cx', p => x(p))
                    .attr('cy', p => y(share(p)));
  hover(marks, p => [group.name, `fast ${p}: ${formatPercent(share(p))}`]);
}

export function fastCurves(bench) {
  const groups = bench.group(bench.rows).filter(g => g.rows.length);
  const largest = d3.max(solvedRows(bench, bench.rows), r => medianOf(bench, r)) || 1;
  const high = Math.max(2, largest) * 1.1;
  const draw = (svg, width, height) => {
    const size = margins(width, height);
    const x = d3.scaleLog([0.25, high], [size.left, width - size.right]).clamp(true),
          y = d3.scaleLinear([0, 1], [height - size.bottom, size.top]);
    drawAxes(
        svg, size, x, y, {x: 'p (times as fast as the baseline)', y: 'fast p'},
        {valuesX: ratioTicks(0.25, high), x: formatTick, y: d3.format('.0%')});
    drawRule(svg, [x(1), size.top], [x(1), height - size.bottom]);
    groups.forEach(group => drawFastCurve(svg, bench, group, x, y, high));
  };
  return [makeChart('Share of tasks faster than p', 300, draw), seriesLegend(bench)];
}

function drawLaneLabel(svg, x, y, name, note) {
  const label = svg.append('text').attr('text-anchor', 'end').attr('x', x);
  label.append('tspan').attr('x', x).attr('y', y).text(name.slice(0, 18));
  label.append('tspan').attr('class', 'fill-soft').attr('x', x).attr('y', y + 15).text(note);
}

// Draws the middle half of the values as a box, and their median as a line.
function drawQuartiles(svg, x, y, values, series) {
  if (values.length <= 2) return;
  const [a, m, b] = [0.25, 0.5, 0.75].map(q => d3.quantile(values, q));
  svg.append('rect')
      .attr('class', 'band f' + series)
      .attr('x', x(a))
      .attr('width', Math.max(1, x(b) - x(a)))
      .attr('y', y - 15)
      .attr('height', 30)
      .attr('rx', 3);
  drawLine(svg, 'line s' + series, [x(m), y - 15], [x(m), y + 15]);
}

function drawLane(svg, bench, group, x, y, left) {
  const own = solvedRows(bench, group.rows);
  const series = bench.names.indexOf(group.name) % 8;
  drawLaneLabel(svg, left - 8, y, group.name, `${group.rows.length - own.length} failed`);
  drawQuartiles(svg, x, y, own.map(r => medianOf(bench, r)).sort(d3.ascending), series);
  const marks = svg.append('g')
                    .selectAll('circle')
                    .data(own)
                    .join('circle')
                    .attr('class', 'dot f' + series)
                    .attr('r', 5)
                    .attr('cx', r => x(medianOf(bench, r)))
                    .attr('cy', (r, n) => y + ((n % 5) - 2) * 4.5);
  hover(marks, r => [r.task, formatSpeedup(r[bench.baseline])]);
}

// Draws one mark for each row, and one lane for each strategy.
export function distribution(bench) {
  const groups = bench.group(bench.rows);
  const speedups = solvedRows(bench, bench.rows).map(r => medianOf(bench, r));
  if (!speedups.length) return hint('No row has this figure.');
  const low = Math.min(0.8, d3.min(speedups) * 0.9), high = Math.max(1.5, d3.max(speedups) * 1.1);
  const lane = 52;
  const draw = (svg, width, height) => {
    const size = {...margins(width, height), left: Math.min(130, width * 0.3), top: 12};
    const x = d3.scaleLog([low, high], [size.left, width - size.right]);
    drawAxes(
        svg, size, x, d3.scalePoint([], [height - size.bottom, size.top]),
        {x: 'times as fast as the baseline', y: ''},
        {valuesX: ratioTicks(low, high), x: formatTick});
    drawRule(svg, [x(1), size.top], [x(1), height - size.bottom]);
    groups.forEach(
        (group, i) => drawLane(svg, bench, group, x, size.top + lane * (i + 0.5), size.left));
  };
  return [
    makeChart('Distribution of speedups', 66 + lane * groups.length, draw),
    hint('Each mark is a task that was solved; the box is the middle half, its line the median.')
  ];
}

// Returns the best of a row when no more than `limit` attempts or tokens were spent.
function bestWithin(row, against, limit) {
  let value = 1;
  for (const point of row.curve)
    if (point[against] <= limit && point.best !== null) value = point.best;
  return value;
}

// Returns {name, points} for each group: the geometric mean over its rows along the axis.
function curveLines(groups, against, end) {
  const steps =
      against === 'attempt' ? d3.range(0, end + 1) : d3.range(0, 61).map(i => (end * i) / 60);
  const mean = (rows, limit) =>
      Math.exp(d3.mean(rows, row => Math.log(bestWithin(row, against, limit))));
  return groups.map(
      ({name, rows}) => ({name, points: steps.map(limit => [limit, mean(rows, limit)])}));
}

function drawCurves(svg, bench, groups, against, width, height) {
  const size = margins(width, height);
  const end = d3.max(groups, g => d3.max(g.rows, r => r.curve[r.curve.length - 1][against]));
  const lines = curveLines(groups, against, end);
  const values = lines.flatMap(line => line.points.map(([, value]) => value));
  const x = d3.scaleLinear([0, end], [size.left, width - size.right]);
  const y = d3.scaleLinear(
      [Math.min(1, d3.min(values)), Math.max(1.2, d3.max(values) * 1.08)],
      [height - size.bottom, size.top]);
  const unit = against === 'attempt' ? 'attempts' : 'tokens';
  const names = {x: `${unit} per task`, y: 'geometric mean of the best so far'};
  drawAxes(svg, size, x, y, names, {
    x: against === 'tokens' ? formatCount : undefined,
    countsX: against === 'attempt',
    y: formatTick
  });
  const curve = d3.line().curve(d3.curveStepAfter).x(p => x(p[0])).y(p => y(p[1]));
  for (const line of lines) {
    const path = svg.append('path')
                     .datum(line)
                     .attr('class', 'line s' + (bench.names.indexOf(line.name) % 8))
                     .attr('d', curve(line.points));
    const last = line.points[line.points.length - 1][1];
    hover(path, () => [line.name, `${formatRatio(last)} at the end`]);
  }
}

// Draws the geometric mean of the best so far, over all rows (1 until something has passed).
export function benchCurves(bench) {
  const groups = bench.group(bench.rows)
                     .map(g => ({...g, rows: g.rows.filter(r => r.curve.length)}))
                     .filter(g => g.rows.length);
  if (!groups.length)
    return hint('The result holds no curves; name the store of its runs with --home.');
  let against = 'attempt';
  const chart = makeChart(
      'Best so far', 300,
      (svg, width, height) => drawCurves(svg, bench, groups, against, width, height));
  const choose = value => {
    against = value;
    chart.redraw();
  };
  return [
    element(
        'div', {class: 'tools'},
        choice('Against', [['attempt', 'attempts'], ['tokens', 'tokens']], against, choose)),
    chart, seriesLegend(bench),
    hint(
        'Against eager, over all rows with a curve; a task counts as 1 until it has a kernel. Runs that ended keep their value.')
  ];
}
