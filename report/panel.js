// The panel of one attempt, which shows everything that is known about it.

import {block, data, trialDetails} from './data.js';
import {element, fold, hint, lazy, longText} from './elements.js';
import {formatCount, formatSpeedup, signOf} from './figures.js';
import {panelParts} from './panel_parts.js';
import {pill} from './status.js';

function message({role, text}) {
  return lazy(`${role} (${formatCount(text.length)} characters)`, () => {
    const box = [longText(text, role)].flat();
    box[0].classList.add('wrap');
    return box;
  });
}

function conversation({role, model, said}) {
  if (said) return fold(`${role}, ${model}`, true, said.map(message));
  return hint(`${role}, ${model}: left out of this page; pragma report --full keeps all of them.`);
}

async function conversations(node) {
  const calls = (await block('calls', 'call-lines'))[node];
  return calls ? fold('Prompts and replies', false, calls.map(conversation)) : null;
}

function panelHead(row) {
  return element(
      'div', {class: 'top'},
      element(
          'strong', {}, row.isBest ? element('span', {class: 'star'}, '★ ') : '',
          `Attempt ${row.node}`),
      pill(row.status),
      row.eager ? element(
                      'b', {class: signOf(row.eager) + '-text'},
                      formatSpeedup(row.eager) + ' against eager') :
                  null);
}

function origin(run, row, author) {
  const link = row.parent === 0 ?
      'the module' :
      element(
          'button', {type: 'button', onclick: () => run.select(row.parent)},
          `attempt ${row.parent}`);
  return element('p', {class: 'soft'}, `${row.role} of `, link, ` by ${author}`);
}

function showModule(box) {
  box.replaceChildren(
      element('div', {class: 'top'}, element('strong', {}, 'The PyTorch module')),
      longText(data.task.source || '', 'Task'));
}

async function showAttempt(run, row, box) {
  const [trial, parent, best] = await Promise.all([
    trialDetails(row.node), row.parent > 0 ? trialDetails(row.parent) : null,
    run.best ? trialDetails(run.best) : null
  ]);
  const talk = await conversations(row.node);
  if (run.selected !== row.node) return;  // the reader has chosen another one meanwhile
  const parts = panelParts.map(part => part(trial, parent, best));
  box.replaceChildren(
      panelHead(row), origin(run, row, trial.author), ...[...parts, talk].flat().filter(Boolean));
  box.scrollTop = 0;
  box.dataset.shown = row.node;
}

export function makePanel(run) {
  const box = element('div', {class: 'panel', 'aria-live': 'polite'});
  const explain = (node, error) => box.replaceChildren(
      element('p', {class: 'error'}, `Attempt ${node} cannot be shown: ${error.message}`));
  run.onSelect.push(async node => {
    const row = run.byNode.get(node);
    try {
      await (row ? showAttempt(run, row, box) : showModule(box));
    } catch (error) {
      explain(node, error);
    }
  });
  return box;
}
