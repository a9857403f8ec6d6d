// Sorts, filters and folds the tables of a report. The page is readable without.
'use strict';
(() => {
  // The number in a cell, if it is one: "1,234", "12.3 %", or the value that the cell names.
  const number = cell => {
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    const text = cell.textContent.trim().replaceAll(',', '').replace(/\s*%$/, '');
    return text !== '' && !Number.isNaN(Number(text)) ? Number(text) : null;
  };
  const words = cell => cell.textContent.trim().toLowerCase();
  const element = (name, properties) => Object.assign(document.createElement(name), properties);

  // Rows that a long table shows before it is unfolded. Where the screen is narrow, a row is a block.
  const FEW = matchMedia('(max-width:40rem)').matches ? 3 : 10;

  for (const box of document.querySelectorAll('.data')) {
    const table = box.querySelector('table');
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const names = heads.map(head => head.textContent);
    const rows = [...body.rows];
    if (rows.length < 2) continue;
    const tools = box.querySelector('.tools');
    const caption = table.caption.textContent;

    const field = element('input', { type: 'search', placeholder: 'filter' });
    field.setAttribute('aria-label', 'Filter: ' + caption);
    const count = element('span', {});
    count.setAttribute('role', 'status');
    const unfold = element('button', { type: 'button', textContent: 'all ' + rows.length + ' rows' });
    unfold.setAttribute('aria-label', 'All ' + rows.length + ' rows: ' + caption);
    unfold.hidden = rows.length <= FEW + 2;
    // Shows the rows that the filter finds; without a filter the first ones, in their order on the page.
    const show = () => {
      const wanted = field.value.trim().toLowerCase();
      let shown = 0;
      for (const row of body.rows) {
        const isFolded = wanted === '' && !unfold.hidden && shown >= FEW;
        row.hidden = isFolded || !row.textContent.toLowerCase().includes(wanted);
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = wanted === '' ? '' : shown + ' of ' + rows.length + ' rows';
    };
    const showAll = () => {
      unfold.hidden = true;
      show();
    };
    field.addEventListener('input', show);
    unfold.addEventListener('click', showAll);
    // A link may lead to a row that is folded.
    const reveal = () => {
      const row = document.getElementById(location.hash.slice(1));
      if (!row || !rows.includes(row) || !row.hidden) return;
      field.value = '';
      showAll();
      row.scrollIntoView();
    };
    addEventListener('hashchange', reveal);
    addEventListener('beforeprint', showAll);

    const choice = element('select', { className: 'narrow' });
    const sort = (column, down) => {
      const keyed = rows.map((row, place) => {
        const cell = row.cells[column];
        const value = cell ? number(cell) : null;
        const text = cell ? words(cell) : '';
        return { row, place, value, text, blank: value === null && (text === '' || text === '–') };
      });
      keyed.sort((one, other) => {
        if (one.blank !== other.blank) return one.blank ? 1 : -1;
        let order;
        if (one.value !== null && other.value !== null) order = one.value - other.value;
        else if (one.value !== null || other.value !== null) order = one.value !== null ? -1 : 1;
        else order = one.text < other.text ? -1 : one.text > other.text ? 1 : 0;
        return order !== 0 ? (down ? -order : order) : one.place - other.place;
      });
      body.append(...keyed.map(key => key.row));
      show();
      heads.forEach((head, place) => {
        if (place === column) head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        else head.removeAttribute('aria-sort');
      });
      choice.value = String(column);
    };
    const isNumeric = column => rows.some(row => row.cells[column] && number(row.cells[column]) !== null);

    heads.forEach((head, column) => {
      const button = element('button', { type: 'button', textContent: names[column] });
      button.addEventListener('click', () => {
        const was = head.getAttribute('aria-sort');
        sort(column, was ? was === 'ascending' : isNumeric(column));
      });
      head.replaceChildren(button);
    });

    choice.append(element('option', { value: '', textContent: 'sort by …' }));
    names.forEach((name, column) => choice.append(element('option', { value: String(column), textContent: name })));
    choice.setAttribute('aria-label', 'Sort: ' + caption);
    choice.addEventListener('change', () => {
      if (choice.value !== '') sort(Number(choice.value), isNumeric(Number(choice.value)));
    });
    if (rows.length > 5) tools.prepend(field, count);
    tools.prepend(choice);
    box.append(unfold);
    show();
    reveal();
  }
})();
