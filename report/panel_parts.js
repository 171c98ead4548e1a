// The parts of an attempt's panel. Each function takes the attempt, its parent and the best attempt
// (either may be missing), and returns elements, or null if there is nothing to show.

import {makeDiff} from './difference.js';
import {element, factList, fold, hint, lazy, longText} from './elements.js';
import {formatCount, formatDigits, formatMoney, formatRatio, formatSeconds, formatSpeedup, formatTime, intervalOf, timeOf, words} from './figures.js';
import {metricTable} from './metrics.js';
import {pill, speedupText} from './status.js';
import {makeTable} from './table.js';

// Tells whether planner and coder kept to the block that was marked (docs/strategies.md).
function editText(edit) {
  if (!edit) return null;
  const lines = count => `${formatCount(count)} line${count === 1 ? '' : 's'}`;
  const coder = edit.inside ? 'inside the marked block' :
                              `${lines(edit.coder_lines)} outside the marked block changed`;
  return coder +
      (edit.planner_lines ? `; the planner itself changed ${lines(edit.planner_lines)}` : '');
}

function advicePart(trial) {
  const advice = trial.advice;
  if (!advice) return null;
  return fold(
      'Advice it was made from', true,
      advice.bottleneck ? element('p', {}, element('b', {}, 'Bottleneck: '), advice.bottleneck) :
                          null,
      element('p', {class: 'advice'}, advice.change),
      advice.evidence ? element('p', {class: 'advice soft'}, 'Because: ' + advice.evidence) : null,
      factList([
        ['starts from', advice.base], ['wants to see', (advice.extra_metrics || []).join(', ')],
        ['edit', editText(trial.edit)]
      ]),
      advice.anchored ? lazy(
                            'The source that the planner marked',
                            () => longText(advice.anchored, 'Marked source')) :
                        null);
}

function diagnosticLine(message) {
  return element(
      'div', {}, element('b', {}, `${message.severity} `),
      `${message.file}${message.line ? ':' + message.line : ''}: ${message.message}`,
      message.source_line ? element('pre', {}, message.source_line.slice(0, 2000)) : null);
}

function problemPart(trial) {
  const evaluation = trial.evaluation;
  const diagnostics = evaluation.diagnostics || [];
  if (!evaluation.reason && !diagnostics.length) return null;
  return fold(
      evaluation.status === 'passed' ? 'Remark' : 'Why it did not pass', true,
      evaluation.reason ? element('pre', {class: 'wrap'}, evaluation.reason.slice(0, 20000)) : null,
      diagnostics.slice(0, 20).map(diagnosticLine));
}

function bottleneck(found) {
  const share =
      found.score > 0 ? ` explains up to ${(found.score * 100).toFixed(0)} % of the time` : '';
  const gain = found.predicted_speedup > 1 ?
      `; removing it altogether: ${formatRatio(found.predicted_speedup)}` :
      '';
  return element(
      'div', {},
      element(
          'p', {}, element('b', {}, words(found.class)), share, gain,
          found.line ? `; line ${found.line}` : ''),
      element('ul', {class: 'plain'}, (found.evidence || []).map(line => element('li', {}, line))),
      element('p', {class: 'soft'}, found.action));
}

function diagnosisPart(trial) {
  const found = (trial.profile && trial.profile.diagnosis) || [];
  if (!found.length) return null;
  return fold(
      'Diagnosis of its profile', true, found.map(bottleneck),
      trial.profile.judgement ? element('p', {}, trial.profile.judgement) : null);
}

function timesTable(evaluation) {
  const speedup = evaluation.speedup || {}, baseline = evaluation.baseline || {};
  const call = evaluation.call || {}, kept = call.kept || {}, defaults = call.defaults || {};
  const row = (name, timing, ratio) => ({name, time: timeOf(timing), ratio: intervalOf(ratio)});
  const rows = [
    row('ModelNew called from Python', kept.timing),
    row(`Model called from Python, ${call.over}`, kept.baseline, kept.speedup),
    row('the same with malloc\'s defaults', defaults.baseline, defaults.speedup),
    row('this kernel', evaluation.timing), row('PyTorch eager', baseline.eager, speedup.eager),
    row('torch.compile', baseline.compile, speedup.compile),
    row('best before it', null, speedup.best)
  ].filter(r => r.time || r.ratio);
  return makeTable(
      [
        {title: 'per call, 95 % interval', value: r => r.name},
        {title: 'time', number: true, value: r => formatTime(r.time)},
        {title: 'faster by', number: true, value: r => speedupText(r.ratio)}
      ],
      rows, {label: 'Times'});
}

// Returns "12.0 ms (compute bound), 14 % reached".
function rooflineText({roofline, timing}) {
  if (!roofline) return null;
  const time = formatTime([roofline.ms, roofline.ms, roofline.ms]).replace(/ \[.*/, '');
  const reached = Math.round(100 * roofline.ms / timing.median_ms);
  return `${time} (${roofline.bound} bound), ${reached} % reached`;
}

function timingFacts(evaluation) {
  const {error} = evaluation;
  return factList([
    ['roofline', rooflineText(evaluation)],
    [
      'packs its parameters first',
      evaluation.prepacked ?
          `yes, ${formatDigits(evaluation.prepare_ms || 0)} ms, not in the time above` :
          null
    ],
    ['measured', evaluation.timing.method], ['noisy', evaluation.noisy || null],
    ['not checked for want of time', (evaluation.partly_checked || []).join(', ') || null],
    ['NaN', (evaluation.nan || []).join('; ') || null],
    [
      'error',
      error ?
          `max abs ${formatDigits(error.max_abs)}, rel. L2 ${
              formatDigits(error.rel_l2)} (PyTorch's own: ${formatDigits(error.honest_rel_l2)})` :
          null
    ]
  ]);
}

function shapesTable(shapes) {
  if (!shapes.length) return null;
  return makeTable(
      [
        {title: 'shape', value: s => s.label + (s.held_out ? ' (held out)' : '')},
        {title: 'status', value: s => pill(s.status)},
        {title: 'time', number: true, value: s => formatTime(timeOf(s.timing))}, {
          title: 'against eager',
          number: true,
          value: s => formatSpeedup(intervalOf(s.speedup && s.speedup.eager))
        }
      ],
      shapes, {label: 'Shapes'});
}

function timingPart({evaluation}) {
  if (!evaluation.timing) return null;
  return fold(
      'Timing', true, timesTable(evaluation), timingFacts(evaluation),
      shapesTable(evaluation.shapes || []));
}

function checksPart(trial) {
  const checks = (trial.evaluation.checks || '').split('\n').filter(Boolean).map(line => {
    const [verdict, name, detail] = line.split('\t');
    return {verdict, name, detail};
  });
  if (!checks.length) return null;
  const failed = checks.filter(c => c.verdict === 'fail').length;
  const look = {pass: 'good-text', fail: 'bad-text'};
  return fold(
      `Checks (${checks.length - failed} of ${checks.length} without complaint)`, failed > 0,
      makeTable(
          [
            {title: 'check', value: c => words(c.name)}, {
              title: 'verdict',
              value: c => element(
                  'span', {class: Object.hasOwn(look, c.verdict) ? look[c.verdict] : null},
                  c.verdict)
            },
            {title: 'detail', value: c => c.detail.slice(0, 2000)}
          ],
          checks, {label: 'Checks'}));
}

function sourceOf(trial) {
  return Object.entries((trial.candidate && trial.candidate.files) || {})[0] || [];
}

function sourceFacts(candidate) {
  const tunables = Object.entries(candidate.tunables || {}).map(([k, v]) => `${k} = ${v}`);
  return factList([
    ['candidate', candidate.id], ['compiler', candidate.compiler],
    ['flags', (candidate.flags || []).join(' ')], ['tunables', tunables.join(', ')]
  ]);
}

function sourcePart(trial, parent) {
  const [name, text] = sourceOf(trial);
  if (!name) return null;
  const [, before] = parent ? sourceOf(parent) : [];
  return [
    before === undefined || before === null ?
        null :
        lazy(`Difference to attempt ${parent.node}`, () => makeDiff(before, text)),
    lazy(`Source: ${name}`, () => [sourceFacts(trial.candidate), longText(text, 'Source')])
  ];
}

function logPart({evaluation}) {
  if (!evaluation.log) return null;
  return lazy('Build and run log', () => longText(evaluation.log, 'Log'));
}

function hotPart(trial) {
  const hot = (trial.profile && trial.profile.hot) || [];
  if (!hot.length) return null;
  return fold(
      'Hottest lines', false,
      makeTable(
          [
            {title: 'line', number: true, value: h => h.line || ''},
            {title: 'time', number: true, value: h => h.percent.toFixed(1) + ' %'}, {
              title: 'source and the compiler’s remark',
              value: h =>
                  [element('code', {}, h.text.slice(0, 400)),
                   h.remark ? element('div', {class: 'soft'}, h.remark) : null]
            }
          ],
          hot, {label: 'Hottest lines'}));
}

function metricsPart(trial, parent, best) {
  const profile = trial.profile;
  if (!profile) return null;
  const versions = [['this', trial]];
  if (best && best.node !== trial.node) versions.push(['best', best]);
  const providers = () => makeTable(
      [
        {title: 'source of metrics', value: p => p.name}, {title: 'verdict', value: p => p.verdict},
        {title: 'detail', value: p => p.detail}
      ],
      profile.providers || [], {label: 'Sources of metrics'});
  return lazy(
      `Metrics (${profile.metrics.values.length})`, () => [metricTable(versions), providers()]);
}

function evidencePart({bundle}) {
  if (!bundle) return null;
  return fold(
      'Evidence', false, factList([['bundle', bundle]]),
      hint('Judge it again: pragma recheck ' + bundle.slice(0, 12)));
}

function spentPart(trial) {
  const spent = trial.spent || {};
  const phases = Object.entries(trial.evaluation.phases_ms || {});
  return fold(
      'Spent', false, factList([
        ['time', formatSeconds(spent.seconds || 0)],
        [
          'tokens',
          spent.tokens_in || spent.tokens_out ?
              `${formatCount(spent.tokens_in)} in, ${formatCount(spent.tokens_out)} out` :
              null
        ],
        ['money', spent.usd > 0 ? formatMoney(spent.usd) : null],
        ['phases', phases.map(([name, ms]) => `${name} ${formatSeconds(ms / 1e3)}`).join(', ')]
      ]));
}

export const panelParts = [
  advicePart, problemPart, diagnosisPart, timingPart, checksPart, sourcePart, logPart, hotPart,
  metricsPart, evidencePart, spentPart
];
