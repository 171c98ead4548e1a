// The difference of two sources.

import {element, hint} from './elements.js';

// Shows the difference of two texts as added and removed lines, with three lines around each
// change.
export function makeDiff(before, after) {
  const around = 3;
  const box =
      element('pre', {class: 'diff', tabindex: 0, 'aria-label': 'Difference to the parent'});
  const parts = Diff.diffLines(before, after, {maxEditLength: 4000});
  if (!parts) return hint('The two sources differ too much to be compared line by line.');
  const put = (kind, mark, lines) => {
    for (const line of lines) box.append(element('span', {class: kind}, mark + line));
  };
  parts.forEach((part, i) => {
    const lines = part.value.replace(/\n$/, '').split('\n');
    if (part.added)
      put('added', '+ ', lines);
    else if (part.removed)
      put('removed', '− ', lines);
    else if (lines.length > 2 * around + 1) {
      if (i > 0) put('same', '  ', lines.slice(0, around));
      put('gap', '',
          [`⋯ ${lines.length - around * ((i > 0) + (i + 1 < parts.length))} lines unchanged`]);
      if (i + 1 < parts.length) put('same', '  ', lines.slice(-around));
    } else
      put('same', '  ', lines);
  });
  return box;
}
