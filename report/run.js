// The page of a run.

import {data} from './data.js';
import {element, lazy, longText, section} from './elements.js';
import {makePanel} from './panel.js';
import {profileComparison} from './profiles.js';
import {progressCurve} from './progress.js';
import {roofline} from './roofline.js';
import {attemptTable, costTable, runHead, runVerdict, settingsFacts} from './run_parts.js';
import {searchTree} from './tree.js';

function runModel() {
  const run =
      {trials: data.trials, best: data.best, selected: null, onSelect: [], final: data.run.final};
  run.byNode = new Map(run.trials.map(trial => [trial.node, trial]));
  for (const trial of run.trials) trial.isBest = trial.node === data.best;
  run.bestPath = [];
  for (let node = run.best; node; node = run.byNode.get(node).parent) run.bestPath.push(node);
  run.select = node => {
    run.selected = node;
    return Promise.all(run.onSelect.map(each => each(node)));
  };
  return run;
}

export function runPage() {
  const run = runModel();
  const content = [
    runHead(run), runVerdict(run),
    element(
        'div', {class: 'pair wide-left'},
        element(
            'div', {class: 'stack'}, section('search', 'Search tree', searchTree(run)),
            section('progress', 'Best so far', progressCurve(run))),
        section('attempt', 'Attempt', makePanel(run))),
    element(
        'div', {class: 'pair'},
        element(
            'div', {class: 'stack'}, section('roofline', 'Roofline', roofline(run)),
            section('cost', 'Cost', costTable())),
        section('profile', 'Profiles compared', profileComparison(run))),
    section('attempts', 'All attempts', attemptTable(run)),
    section(
        'settings', 'Settings and task', settingsFacts(),
        lazy('Task source', () => longText(data.task.source || '', 'Task')))
  ];
  const last = run.trials.length ? run.trials[run.trials.length - 1].node : 0;
  return {content, start: () => run.select(run.best || last)};
}
