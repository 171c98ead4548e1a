// The parts of a run's page: its head, its verdict and its tables.

import {data} from './data.js';
import {element, factList, hint, stat} from './elements.js';
import {formatCount, formatMoney, formatSeconds, formatSpeedup, formatTime, intervalOf, signOf, words} from './figures.js';
import {pill, speedupText} from './status.js';
import {makeTable} from './table.js';

export function runVerdict(run) {
  const totals = run.trials.reduce(
      (sum, t) =>
          ({tokens: sum.tokens + t.tokens, usd: sum.usd + t.usd, seconds: sum.seconds + t.seconds}),
      {tokens: 0, usd: 0, seconds: 0});
  const best = run.byNode.get(run.best);
  const final = run.final && run.final.status === 'passed' ? run.final : null;
  const eager = final ? intervalOf(final.speedup.eager) : best && best.eager;
  const compile = final ? intervalOf(final.speedup.compile) : best && best.compile;
  const call = final ? intervalOf(final.speedup.call) : null;
  const when = final ? 'measured again in fresh processes' : 'as measured in the search';
  const passed = run.trials.filter(t => t.status === 'passed').length;
  return element(
      'div', {class: 'verdict'},
      call ? stat(
                 formatSpeedup(call), `a call from Python against ${final.call.over}`,
                 'main ' + signOf(call)) :
             null,
      stat(
          eager ? formatSpeedup(eager) : 'no kernel passed',
          eager ? `${call ? 'the kernel alone against' : 'faster than'} PyTorch eager, attempt ${
                      run.best}, ${when}` :
                  `in ${run.trials.length} attempts`,
          (call ? '' : 'main ') + (signOf(eager) || (run.trials.length && !best ? 'bad' : ''))),
      compile ? stat(formatSpeedup(compile), 'the kernel against torch.compile') : null,
      stat(`${passed} of ${run.trials.length}`, 'attempts passed'),
      stat(
          formatSeconds(totals.seconds),
          'spent' + (totals.usd > 0 ? ', ' + formatMoney(totals.usd) : '') +
              (totals.tokens > 0 ? `, ${formatCount(totals.tokens)} tokens` : '')));
}

const present = parts => parts.filter(Boolean).join(' · ');

function runLine({settings, ...facts}, task) {
  const models = Object.entries(settings.models || {})
                     .filter(([, name]) => name)
                     .map(([role, name]) => `${role}: ${name}`)
                     .join(', ');
  const state = facts.state === 'finished' ? `ended by ${facts.stopped}` : facts.state;
  return present([
    task.category && words(task.category), `strategy ${facts.strategy}`, models, facts.created,
    state, facts.id
  ]);
}

function environmentLine(e, mode) {
  return present([
    e.cpu, e.threads && `${e.threads} thread${e.threads === 1 ? '' : 's'}`, e.compiler,
    e.torch && 'torch ' + e.torch, e.cache && e.cache + ' cache',
    e.allocator && 'allocator ' + e.allocator, mode && 'mode: ' + mode,
    e.trust && 'trust: ' + e.trust
  ]);
}

export function runHead(run) {
  const {task, environment} = data;
  const line = (shown, text, look = 'soft') => (shown ? element('p', {class: look}, text) : null);
  return element(
      'div', {class: 'head'}, element('h1', {}, data.run.task), line(true, runLine(data.run, task)),
      line(
          data.shortened,
          'A long run: attempts that did not lead to the best keep only a part of their advice and logs here (pragma report --full keeps all).'),
      line(
          environment, environment && environmentLine(environment, task.mode_matters && task.mode)),
      line(
          task.lint && task.lint !== 'sound',
          `This task is ${
              task.lint}: its inputs cannot tell some wrong kernels from right ones (pragma lint says which).`,
          'bad-text'),
      line(
          run.final && run.final.noisy,
          run.final && `The final figures are noisy: ${run.final.noisy}.`, 'bad-text'),
      line(
          run.trials.some(t => t.prepacked),
          'Some attempts pack their parameters before they are timed; the packing is not in their times.'));
}

function attemptColumns() {
  return [
    {
      title: 'attempt',
      number: true,
      order: t => t.node,
      value: t => (t.isBest ? [element('span', {class: 'star'}, '★ '), t.node] : String(t.node))
    },
    {
      title: 'from',
      number: true,
      order: t => t.parent,
      value: t => (t.parent === 0 ? '–' : String(t.parent))
    },
    {title: 'role', order: t => t.role, value: t => t.role},
    {title: 'status', order: t => t.status, value: t => pill(t.status)}, {
      title: 'against eager [95 %]',
      number: true,
      order: t => (t.eager ? t.eager[0] : -1),
      value: t => (t.noisy ? [speedupText(t.eager), ' noisy'] : speedupText(t.eager))
    },
    {
      title: 'against the best then [95 %]',
      number: true,
      order: t => (t.against ? t.against[0] : -1),
      value: t => (t.against ? `${formatSpeedup(t.against)}, ${decision(t)}` : '–')
    },
    {
      title: 'time',
      number: true,
      order: t => (t.ms ? t.ms[0] : Infinity),
      value: t => formatTime(t.ms)
    },
    {title: 'bottleneck', order: t => t.bottleneck || '', value: t => words(t.bottleneck || '')}, {
      title: 'tokens',
      number: true,
      order: t => t.tokens,
      value: t => (t.tokens ? formatCount(t.tokens) : '–')
    },
    {title: 'what', value: t => element('span', {class: 'cut', title: t.note}, t.note)}
  ];
}

// The direct comparison decides, not the two figures against eager (search/stopping.h).
const decision = t => (t.best ? 'better' : 'not better');

export function attemptTable(run) {
  const table = makeTable(attemptColumns(), run.trials, {
    room: 60,
    label: 'Attempts',
    attributes: t => ({class: 'click' + (t.isBest ? ' best' : ''), 'data-node': t.node})
  });
  table.body.addEventListener('click', event => {
    const line = event.target.closest('tr');
    if (!line) return;
    run.select(Number(line.dataset.node));
    document.getElementById('search').scrollIntoView({block: 'start'});
  });
  run.onSelect.push(node => {
    for (const line of table.body.querySelectorAll('[aria-selected]'))
      line.removeAttribute('aria-selected');
    table.body.querySelector(`[data-node="${Number(node)}"]`)
        ?.setAttribute('aria-selected', 'true');
  });
  return table;
}

export function costTable() {
  const costs = data.cost;
  if (!costs.length) return hint('No model was asked.');
  return makeTable(
      [
        {title: 'role', value: g => g.role}, {title: 'model', value: g => g.model},
        {title: 'calls', number: true, value: g => String(g.calls)},
        {title: 'tokens in', number: true, value: g => formatCount(g.tokens_in)},
        {title: 'tokens out', number: true, value: g => formatCount(g.tokens_out)},
        {title: 'money', number: true, value: g => formatMoney(g.usd)},
        {title: 'waited', number: true, value: g => formatSeconds(g.seconds)}
      ],
      costs, {label: 'Cost'});
}

export function settingsFacts() {
  const settings = data.run.settings, task = data.task, preset = settings.preset || {},
        budget = settings.budget || {};
  const options = Object.entries(settings.options || {}).filter(([, value]) => value !== '');
  const size = t => `${t.name}: ${t.dtype}[${(t.shape || []).join(', ')}]`;
  return factList([
    ['strategy', [preset.name, preset.summary].filter(Boolean).join(': ')],
    [
      'budget',
      [
        budget.attempts > 0 && `${budget.attempts} attempts`,
        budget.seconds > 0 && formatSeconds(budget.seconds),
        budget.tokens > 0 && `${formatCount(budget.tokens)} tokens`,
        budget.usd > 0 && formatMoney(budget.usd)
      ].filter(Boolean)
          .join(', ')
    ],
    ['options', options.map(([name, value]) => `${name} ${value}`).join(', ')],
    ['seed', settings.seed], ['advice from the user', settings.advice_from_user],
    ['inputs', (task.arguments || []).map(size).join('; ')],
    ['outputs', (task.outputs || []).map(size).join('; ')], ['notes', (task.notes || []).join(' ')],
    ['task', task.sha256 && 'SHA-256 ' + task.sha256], ['evidence of the best', data.run.bundle],
    ['machine', element('span', {class: 'advice'}, settings.machine || '')]
  ]);
}
