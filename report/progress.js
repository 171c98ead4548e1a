// The best kernel so far, against attempts, tokens or time.

import {drawAxes, drawRule, formatTick, makeChart, margins, ratioTicks} from './charts.js';
import {choice, element, hint} from './elements.js';
import {formatCount} from './figures.js';
import {describe, fillOf, kindOf, shapes, symbolOf, symbolPath} from './status.js';
import {hover} from './tip.js';

// Returns the best after each attempt, with what had been spent by then.
function bestSoFar(trials) {
  let tokens = 0, seconds = 0, best = null;
  return trials.map(trial => {
    tokens += trial.tokens;
    seconds += trial.seconds;
    if (trial.best && trial.eager) best = trial.eager;
    return {trial, attempts: trial.node, tokens, seconds, best};
  });
}

const axisNames = {
  attempts: 'attempts',
  tokens: 'tokens spent',
  seconds: 'time spent (s)'
};

// The range of the speedup axis: nearly all of what was measured, and 1.
function speedupRange(timed) {
  const medians = timed.map(p => p.trial.eager[0]).sort(d3.ascending);
  return [
    Math.min(0.9, d3.quantile(medians, 0.02) * 0.9),
    Math.max(1.2, d3.max(timed, p => p.trial.eager[2]) * 1.08)
  ];
}

function drawBest(svg, points, across, y) {
  const path = points.filter(p => p.best);
  const steps = path.length ? [...path, {...points[points.length - 1]}] : [];
  const band =
      d3.area().curve(d3.curveStepAfter).x(across).y0(p => y(p.best[1])).y1(p => y(p.best[2]));
  const line = d3.line().curve(d3.curveStepAfter).x(across).y(p => y(p.best[0]));
  svg.append('path').attr('class', 'band f0').attr('d', band(steps));
  svg.append('path').attr('class', 'line s0').attr('d', line(steps));
}

function drawIntervals(svg, timed, across, y) {
  svg.append('g')
      .selectAll('line')
      .data(timed)
      .join('line')
      .attr('class', p => 'whisker ' + (p.trial.isBest ? 's-star' : 's-good'))
      .attr('x1', across)
      .attr('x2', across)
      .attr('y1', p => y(p.trial.eager[1]))
      .attr('y2', p => y(p.trial.eager[2]));
}

// Draws one mark for each attempt. Those without a time stand at the bottom.
function drawAttempts(run, svg, points, across, y, bottom) {
  const many = points.length > 200;
  const shape = trial =>
      (many && !trial.isBest ? symbolPath(shapes[kindOf(trial.status)], 26) : symbolOf(trial));
  const up = trial => (trial.eager ? y(trial.eager[0]) : bottom);
  const marks = svg.append('g')
                    .selectAll('path')
                    .data(points)
                    .join('path')
                    .attr('class', p => 'dot ' + fillOf(p.trial))
                    .attr('d', p => shape(p.trial))
                    .attr('transform', p => `translate(${across(p)},${up(p.trial)})`)
                    .style('cursor', 'pointer')
                    .on('click', p => run.select(p.trial.node));
  hover(marks, p => describe(p.trial));
}

function drawProgress(run, points, against, svg, width, height) {
  const timed = points.filter(p => p.trial.eager);
  const size = margins(width, height);
  const most = Math.max(1, d3.max(points, p => p[against]));
  const x = d3.scaleLinear([0, most], [size.left, width - size.right]).nice();
  const [low, high] = speedupRange(timed);
  const y = d3.scaleLog([low, high], [height - size.bottom - 14, size.top]).clamp(true);
  drawAxes(svg, size, x, y, {x: axisNames[against], y: 'faster than eager by'}, {
    x: against === 'tokens' ? formatCount : undefined,
    countsX: against === 'attempts',
    valuesY: ratioTicks(low, high),
    y: formatTick
  });
  drawRule(svg, [size.left, y(1)], [width - size.right, y(1)]);
  const across = p => x(p[against]);
  drawBest(svg, points, across, y);
  if (timed.length <= 200) drawIntervals(svg, timed, across, y);
  drawAttempts(run, svg, points, across, y, height - size.bottom - 6);
}

export function progressCurve(run) {
  const points = bestSoFar(run.trials);
  if (!points.some(p => p.trial.eager)) return hint('No attempt passed, so there is no curve.');
  let against = 'attempts';
  const chart = makeChart(
      'Best speedup so far', 320,
      (svg, width, height) => drawProgress(run, points, against, svg, width, height));
  const choices = [
    ['attempts', 'attempts'],
    ...(points[points.length - 1].tokens > 0 ? [['tokens', 'tokens']] : []), ['seconds', 'time']
  ];
  const choose = value => {
    against = value;
    chart.redraw();
  };
  return [
    element(
        'div', {class: 'tools'}, element('span', {class: 'soft'}, 'against'),
        choice('Best so far against', choices, against, choose)),
    chart,
    hint(
        'The line is the best so far as it was measured in the search, the band its 95 % interval; each mark is an attempt with its own interval, those that did not pass stand at the bottom.')
  ];
}
