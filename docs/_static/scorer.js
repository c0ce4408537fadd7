/* How the search ranks: as Sphinx does, but parts of the API step back, and what is written for developers comes last. */
var LAST = /^(decisions\/|documents|versions|architecture|contributing|maintenance)/;
var PARTS = /^api\/generated\/truerisk\.(api|comparing|core|run|study|validation)\./;
var Scorer = {
  score: ([page, , , , score]) => score - (LAST.test(page) ? 1000 : PARTS.test(page) ? 30 : 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
