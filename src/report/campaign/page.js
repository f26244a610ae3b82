// SPDX-License-Identifier: GPL-3.0-or-later
// What makes the page handier. Everything is readable without it. The filters are kept in the
// address (#findings?verdict=crash&text=read), so that a view can be sent to somebody.
(function () {
  'use strict';
  var byId = function (id) { return document.getElementById(id); };
  var all = function (selector, root) {
    return Array.prototype.slice.call((root || document).querySelectorAll(selector));
  };
  var status = byId('status');

  function selectText(element) {
    var range = document.createRange();
    range.selectNodeContents(element);
    var selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  }

  function addCopyButton(box) {
    var code = box.querySelector('code');
    var button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.setAttribute('aria-label', 'Copy the command');
    var say = function (text) {
      button.textContent = text;
      status.textContent = text;
      window.setTimeout(function () { button.textContent = 'Copy'; }, 1500);
    };
    var byHand = function () {
      selectText(code);
      say(document.execCommand && document.execCommand('copy') ? 'Copied' : 'Selected');
    };
    button.addEventListener('click', function () {
      if (navigator.clipboard && window.isSecureContext)
        navigator.clipboard.writeText(code.textContent).then(function () { say('Copied'); }, byHand);
      else
        byHand();
    });
    box.appendChild(button);
  }

  // A list whose items are shown or not by verdict and by text, and put in order.
  function makeFilter(name, items, orders) {
    var tools = byId(name + '-tools');
    if (!tools || items.length === 0)
      return null;
    var verdict = byId(name + '-verdict'), text = byId(name + '-text');
    var order = byId(name + '-order'), count = byId(name + '-count');
    var words = items.map(function (item) { return item.textContent.toLowerCase(); });
    var parent = items[0].parentNode;

    function apply() {
      var wanted = text.value.trim().toLowerCase(), shown = 0;
      items.forEach(function (item, i) {
        var fits = (!verdict.value || item.dataset.verdict === verdict.value) &&
                   (!wanted || words[i].indexOf(wanted) >= 0);
        item.hidden = !fits;
        shown += fits ? 1 : 0;
      });
      count.textContent = shown === items.length ? '' : shown + ' of ' + items.length;
    }
    function arrange() {
      var compare = orders && orders[order.value];
      if (compare)
        items.slice().sort(compare).forEach(function (item) { parent.appendChild(item); });
    }
    function state() {
      var parts = [];
      if (verdict.value) parts.push('verdict=' + encodeURIComponent(verdict.value));
      if (text.value) parts.push('text=' + encodeURIComponent(text.value));
      if (order && order.selectedIndex > 0) parts.push('order=' + encodeURIComponent(order.value));
      return parts.join('&');
    }
    function remember() {
      var query = state();
      try {
        history.replaceState(null, '', '#' + name + 's' + (query ? '?' + query : ''));
      } catch (ignored) { /* some browsers refuse that for local files */ }
    }
    function restore(query) {
      query.split('&').forEach(function (part) {
        var at = part.indexOf('='), value;
        try { value = decodeURIComponent(part.slice(at + 1)); } catch (ignored) { return; }
        if (part.slice(0, at) === 'verdict') verdict.value = value;
        if (part.slice(0, at) === 'text') text.value = value;
        if (part.slice(0, at) === 'order' && order) order.value = value;
      });
      if (verdict.selectedIndex < 0) verdict.selectedIndex = 0;
      if (order && order.selectedIndex < 0) order.selectedIndex = 0;
      arrange();
      apply();
    }
    [verdict, text].forEach(function (control) {
      control.addEventListener('input', function () { apply(); remember(); });
    });
    if (order)
      order.addEventListener('input', function () { arrange(); remember(); });
    tools.hidden = false;
    return restore;
  }

  function cellValue(row, column, kind) {
    var cell = row.children[column];
    return kind === 'number' ? Number(cell.dataset.value) : cell.textContent.toLowerCase();
  }

  function makeSortable(table) {
    var heads = all('thead th', table), body = table.tBodies[0];
    heads.forEach(function (head, column) {
      var kind = head.dataset.sort;
      if (!kind)
        return;
      var button = document.createElement('button');
      button.type = 'button';
      button.textContent = head.textContent;
      head.textContent = '';
      head.appendChild(button);
      button.addEventListener('click', function () {
        var now = head.getAttribute('aria-sort');
        var down = now ? now === 'ascending' : kind === 'number' && head.textContent !== 'p';
        heads.forEach(function (other) { other.removeAttribute('aria-sort'); });
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        all('tr', body).map(function (row, i) {
          return { row: row, value: cellValue(row, column, kind), at: i };
        }).sort(function (a, b) {
          var order = a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
          return (down ? -order : order) || a.at - b.at;
        }).forEach(function (entry) { body.appendChild(entry.row); });
        status.textContent = 'Sorted by ' + head.textContent;
      });
    });
  }

  all('.command').forEach(addCopyButton);
  all('table.sortable').forEach(makeSortable);
  var data = function (item, name) { return Number(item.dataset[name]); };
  var title = function (item) { return item.querySelector('.title').textContent; };
  var filters = {
    findings: makeFilter('finding', all('.finding'), {
      severity: function (a, b) { return data(a, 'order') - data(b, 'order'); },
      trials: function (a, b) {
        return data(b, 'trials') - data(a, 'trials') || data(a, 'order') - data(b, 'order');
      },
      title: function (a, b) { return title(a) < title(b) ? -1 : title(a) > title(b) ? 1 : 0; }
    }),
    trials: makeFilter('trial', all('#trial-list > tr'), null)
  };

  function follow() {
    var hash = location.hash.slice(1), at = hash.indexOf('?');
    if (at < 0)
      return;
    var restore = filters[hash.slice(0, at)], section = byId(hash.slice(0, at));
    if (restore)
      restore(hash.slice(at + 1));
    if (section)
      section.scrollIntoView();
  }
  window.addEventListener('hashchange', follow);
  follow();
  window.addEventListener('beforeprint', function () {
    all('details').forEach(function (details) { details.open = true; });
  });
})();
