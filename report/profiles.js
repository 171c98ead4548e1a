// The profile of the best against that of the selected attempt.

import {drawAll, makeChart} from './charts.js';
import {trialDetails} from './data.js';
import {element, hint} from './elements.js';
import {words} from './figures.js';
import {metricTable} from './metrics.js';
import {legend} from './status.js';

function showProfiles(run, node, best, current, box, note) {
  if (!best.profile) {
    box.replaceChildren(hint('The best attempt has no profile.'));
    return;
  }
  if (!current || !current.profile) {
    note.textContent =
        current ? `Attempt ${current.node} has no profile; the best alone:` : 'The best alone:';
    box.replaceChildren(metricTable([['best', best]]));
    return;
  }
  note.textContent = `Attempt ${best.node} (best) against attempt ${current.node} (${
      node === run.best ? 'its parent' : 'selected'}); the largest changes first.`;
  const versions = [['best', best], [`attempt ${current.node}`, current]];
  box.replaceChildren(diagnosisBars(versions), metricTable(versions));
  drawAll();
}

export function profileComparison(run) {
  const withProfile = run.trials.filter(t => t.profiled);
  if (!withProfile.length || !run.best) return hint('No attempt has a profile to compare.');
  const box = element('div');
  const note = element('span', {class: 'soft'});
  run.onSelect.push(async node => {
    const other = node === run.best ? run.byNode.get(run.best).parent : node;
    const [best, current] =
        await Promise.all([run.best, other].filter(n => n > 0).map(n => trialDetails(n)));
    if (run.selected === node) showProfiles(run, node, best, current, box, note);
  });
  return [note, box];
}

const rowHeight = 18;

function drawShare(svg, x, top, series, found) {
  const score = found ? found.score : 0;
  svg.append('rect')
      .attr('class', 'f' + series)
      .attr('rx', 2)
      .attr('x', x(0))
      .attr('y', top + 1)
      .attr('height', rowHeight - 3)
      .attr('width', Math.max(1, x(score) - x(0)));
  svg.append('text')
      .attr('class', 'fill-soft')
      .attr('x', x(score) + 5)
      .attr('y', top + 13)
      .text(found ? `${(score * 100).toFixed(0)} %` : 'not named');
}

// Shows how much of the time each diagnosed bottleneck can explain.
function diagnosisBars(versions) {
  const classes = [...new Set(versions.flatMap(([, t]) => t.profile.diagnosis.map(d => d.class)))];
  if (!classes.length) return hint('Neither profile names a bottleneck.');
  const bars = rowHeight * versions.length, head = 6;
  const draw = (svg, width) => {
    const left = Math.min(170, width * 0.4), x = d3.scaleLinear([0, 1], [left, width - 60]);
    classes.forEach((name, i) => {
      const top = head + i * (bars + 10);
      svg.append('text')
          .attr('text-anchor', 'end')
          .attr('x', left - 8)
          .attr('y', top + bars / 2 + 4)
          .text(words(name));
      versions.forEach(([, trial], j) => {
        const found = trial.profile.diagnosis.find(d => d.class === name);
        drawShare(svg, x, top + j * rowHeight, j, found);
      });
    });
  };
  return element(
      'div', {}, legend(versions.map(([who], j) => ['square', 'f' + j, who])),
      makeChart(
          'Share of the time that each bottleneck can explain', classes.length * (bars + 10) + head,
          draw),
      hint(
          'Share of the time that a diagnosed bottleneck can explain (estimates; they may overlap).'));
}
