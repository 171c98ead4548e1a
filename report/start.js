// Draws the page. The performance mark "drawn" records how long that took.
'use strict';

(async function() {
  const main = document.getElementById('main');
  page.theme.start();
  const pages = {run: page.runPage, bench: page.benchPage};
  main.append(...pages[page.data.kind]().flat(Infinity).filter(Boolean));
  const sections = document.getElementById('sections');
  for (const section of main.querySelectorAll('section[id]'))
    sections.append(page.element('a', {href: '#' + section.id}, section.dataset.title));
  page.drawAll();
  await Promise.all((page.started || []).map(started => started()));
  requestAnimationFrame(() => setTimeout(() => {  // after the frame is on the screen
                          performance.mark('drawn');
                          document.documentElement.dataset.drawn = 'yes';
                        }));
})();
