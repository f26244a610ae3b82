-- SPDX-License-Identifier: GPL-3.0-or-later
-- A file of campaigns as schema 6 made it; never to be changed.
CREATE TABLE verdict (
  word TEXT PRIMARY KEY,
  severity INTEGER NOT NULL UNIQUE, -- 1 is the worst
  counts INTEGER NOT NULL, -- was a test of the target
  failure INTEGER NOT NULL,
  meaning TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO verdict VALUES
  ('crash', 1, 1, 1, 'a process died of a signal, or a checker reported an error'),
  ('hang', 2, 1, 1, 'still running when its time was over'),
  ('silent', 3, 1, 1, 'results changed and nothing was reported'),
  ('wrong-output', 4, 1, 1, 'results changed though success was claimed'),
  ('unstable', 5, 1, 1, 'the posttest failed'),
  ('graceful', 6, 1, 0, 'the error was reported'),
  ('pass', 7, 1, 0, 'as without the fault'),
  ('not-activated', 8, 0, 0, 'the fault was never hit'),
  ('invalid', 9, 0, 0, 'the trial could not be run');
CREATE TABLE campaign (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  injector TEXT NOT NULL,
  definition TEXT NOT NULL, -- YAML
  command TEXT NOT NULL,
  directory TEXT NOT NULL,
  environment TEXT NOT NULL, -- JSON
  version TEXT NOT NULL,
  machine TEXT NOT NULL,
  program TEXT, -- size, time of change in ns, build ID, path
  warnings TEXT,
  seed INTEGER NOT NULL,
  created_s INTEGER NOT NULL, -- since 1970
  elapsed_s REAL NOT NULL,
  candidates INTEGER NOT NULL,
  planned INTEGER, -- NULL: not known yet
  state TEXT NOT NULL CHECK (state = 'running' OR state = 'interrupted' OR state = 'finished')
);
CREATE TABLE reference (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  number INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome = 'exit' OR outcome = 'signal' OR outcome = 'timeout' OR
    outcome = 'none'),
  status INTEGER NOT NULL,
  seconds REAL NOT NULL,
  UNIQUE (campaign, number)
);
CREATE TABLE artifact (
  id INTEGER PRIMARY KEY,
  reference INTEGER NOT NULL REFERENCES reference ON DELETE CASCADE,
  path TEXT NOT NULL,
  kind TEXT NOT NULL,
  size INTEGER NOT NULL,
  hash INTEGER NOT NULL,
  content BLOB
);
CREATE INDEX artifact_reference ON artifact (reference);
CREATE TABLE stack (
  id INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,
  text TEXT NOT NULL -- one frame per line, innermost first
);
CREATE INDEX stack_hash ON stack (hash);
CREATE TABLE candidate (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  number INTEGER NOT NULL,
  spec TEXT NOT NULL,
  type TEXT NOT NULL,
  function TEXT,
  module TEXT,
  file TEXT,
  line INTEGER,
  component TEXT,
  series TEXT,
  position INTEGER NOT NULL,
  weight REAL NOT NULL,
  selected INTEGER NOT NULL CHECK (selected IN (0, 1)),
  UNIQUE (campaign, number)
);
CREATE INDEX candidate_selected ON candidate (campaign, number) WHERE selected = 1;
CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  candidate INTEGER NOT NULL REFERENCES candidate ON DELETE CASCADE,
  number INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  spec TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict = 'crash' OR verdict = 'hang' OR verdict = 'silent' OR
    verdict = 'wrong-output' OR verdict = 'unstable' OR verdict = 'graceful' OR
    verdict = 'pass' OR verdict = 'not-activated' OR verdict = 'invalid'),
  reason TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome = 'exit' OR outcome = 'signal' OR outcome = 'timeout' OR
    outcome = 'none'),
  status INTEGER NOT NULL,
  seconds REAL NOT NULL,
  started_s REAL NOT NULL,
  activations INTEGER NOT NULL,
  plan_hash INTEGER,
  crash TEXT,
  stack INTEGER REFERENCES stack,
  output TEXT,
  finding INTEGER REFERENCES finding ON DELETE SET NULL,
  confirmation INTEGER NOT NULL CHECK (confirmation IN (0, 1))
);
CREATE UNIQUE INDEX trial_number ON trial (campaign, number) WHERE confirmation = 0;
CREATE INDEX trial_verdict ON trial (campaign, confirmation, verdict, candidate);
CREATE INDEX trial_candidate ON trial (candidate);
CREATE INDEX trial_finding ON trial (finding) WHERE finding IS NOT NULL;
CREATE TABLE injection (
  id INTEGER PRIMARY KEY,
  trial INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
  fault TEXT NOT NULL,
  function TEXT,
  module TEXT,
  file TEXT,
  line INTEGER,
  symbol TEXT,
  offset INTEGER NOT NULL,
  occurrence INTEGER NOT NULL,
  process INTEGER NOT NULL,
  thread INTEGER NOT NULL,
  program TEXT,
  seconds REAL NOT NULL,
  stack INTEGER REFERENCES stack
);
CREATE INDEX injection_trial ON injection (trial);
CREATE TABLE finding (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  verdict TEXT NOT NULL CHECK (verdict = 'crash' OR verdict = 'hang' OR verdict = 'silent' OR
    verdict = 'wrong-output' OR verdict = 'unstable' OR verdict = 'graceful' OR
    verdict = 'pass' OR verdict = 'not-activated' OR verdict = 'invalid'),
  cause TEXT NOT NULL,
  title TEXT NOT NULL,
  site TEXT,
  file TEXT,
  line INTEGER,
  stack INTEGER REFERENCES stack,
  trial INTEGER REFERENCES trial ON DELETE SET NULL, -- the simplest
  trials INTEGER NOT NULL,
  command TEXT NOT NULL,
  confirmed INTEGER NOT NULL CHECK (confirmed BETWEEN 0 AND 2),
  -- run again, the trial 1: showed it, 2: did not; 0: not tried
  UNIQUE (campaign, cause)
);
CREATE INDEX finding_trial ON finding (trial);
PRAGMA application_id = 1330791500; PRAGMA user_version = 6;
INSERT INTO campaign VALUES (1, 'copy', 'library', 'workload: cp in out', 'cp in out', '/home', '[]', '0.1.0', 'Linux', NULL, NULL, -1, 1700000000, 1.5, 1, NULL, 'finished');
INSERT INTO stack VALUES (1, 12345, 'copy
main');
INSERT INTO candidate VALUES (1, 1, 1, 'read=-1/EIO when count == 3', 'read=-1/EIO', 'read', NULL, NULL, NULL, NULL, NULL, 0, 1.0, 1);
INSERT INTO trial VALUES (1, 1, 1, 1, 7, 'read=-1/EIO when count == 3', 'crash', 'died of SIGSEGV', 'signal', 11, 0.25, 0.5, 1, NULL, 'SIGSEGV at 0x0', 1, NULL, NULL, 0);
INSERT INTO finding VALUES (1, 1, 'crash', 'copy', 'SIGSEGV in copy', 'read in copy', NULL, NULL, 1, 1, 1, 'ordeal replay 1', 0);
UPDATE trial SET finding = 1;
CREATE VIEW verdicts AS
  SELECT campaign, word AS verdict, count(*) AS trials,
    CASE WHEN counts THEN round(100.0 * count(*) / (
      SELECT count(*) FROM trial AS other JOIN verdict AS its ON its.word = other.verdict
      WHERE other.campaign = trial.campaign AND other.confirmation = 0 AND its.counts), 1)
    END AS percent, meaning
  FROM trial JOIN verdict ON word = trial.verdict WHERE confirmation = 0
  GROUP BY campaign, word ORDER BY campaign, severity;
CREATE VIEW failures AS
  SELECT trial.id AS trial, trial.campaign, trial.verdict, trial.spec, reason, crash,
    function, file, line, finding
  FROM trial JOIN verdict ON word = trial.verdict JOIN candidate ON candidate.id = candidate
  WHERE failure AND confirmation = 0 ORDER BY trial.campaign, severity, trial.id;
CREATE VIEW sites AS
  SELECT trial.campaign, injection.module, symbol, injection.file, injection.line, fault,
    count(DISTINCT trial.id) AS trials,
    count(DISTINCT CASE WHEN failure THEN trial.id END) AS failures
  FROM injection JOIN trial ON trial.id = injection.trial
    JOIN verdict ON word = trial.verdict
  WHERE confirmation = 0
  GROUP BY trial.campaign, injection.module, offset, fault
  ORDER BY trial.campaign, failures DESC, trials DESC;
ALTER TABLE campaign ADD COLUMN stopped_by TEXT;
ALTER TABLE candidate ADD COLUMN content INTEGER;
ALTER TABLE candidate ADD COLUMN carried TEXT;
ALTER TABLE finding ADD COLUMN suppressed TEXT;
CREATE TABLE recovery (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  module TEXT NOT NULL,
  address INTEGER NOT NULL,
  code INTEGER NOT NULL, -- its first four bytes
  function TEXT,
  file TEXT,
  line INTEGER,
  reached INTEGER NOT NULL CHECK (reached BETWEEN 0 AND 2)
  -- 1: without any fault, 2: with one; 0: never
);
CREATE INDEX recovery_campaign ON recovery (campaign);
CREATE TABLE line_coverage (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  file TEXT NOT NULL,
  lines INTEGER NOT NULL,
  before INTEGER NOT NULL, -- covered without any fault
  after INTEGER NOT NULL -- with the trials, too
);
CREATE INDEX line_coverage_campaign ON line_coverage (campaign);
ALTER TABLE trial ADD COLUMN way TEXT CHECK (way IS NULL OR way = 'forked' OR
    way = 'checked' OR way = 'disputed');
INSERT INTO campaign VALUES (2, 'server', 'library', 'campaign: server
command: [./server, "7411", file]
environment: ["A=1"]
injector:
  library:
    faults: [fgets=NULL, send=-1/EPIPE, wirte=-1/EIO]
selection:
  sample: 2
  kind: sample
  per: function
  most: 10000
  order: listed
  repeat: 1
oracle:
  references: 2
  compare: [stdout, files]
  ignore: ["*/log"]
  filters: []
  timeout:
    factor: 10
server:
  ready: port 7411
  long_lived: true
sandbox:
  kind: overlay
', './server 7411 file', '/home', '["A=1"]', '0.1.0', 'Linux', NULL, 'not tested: wirte=-1/EIO: wirte is never called, but write is
''/home/out'' varies and is no text; it is not compared
stdout: lines 3 and 4 vary; they are not compared

trials run one at a time', 7, 1700000000, 9.5, 5, 5, 'finished', 'max trials');
INSERT INTO reference VALUES (1, 2, 1, 'exit', 0, 0.5), (2, 2, 2, 'exit', 0, 0.75);
INSERT INTO artifact VALUES
  (1, 1, '<stdout>', 'stream', 5, 1, 'hallo'), (2, 2, '<stdout>', 'stream', 5, 2, 'hello'),
  (3, 1, '/home/log', 'file 640', 1, 3, 'a'), (4, 2, '/home/log', 'file 640', 1, 4, 'b'),
  (5, 1, '/home/out', 'file 4755', 2, 5, NULL), (6, 2, '/home/out', 'file 4755', 2, 6, NULL),
  (7, 1, '/home/new', 'directory 755', 0, 0, NULL), (8, 2, '/home/new', 'directory 755', 0, 0, NULL),
  (9, 1, '/home/old', 'deleted', 0, 0, NULL), (10, 2, '/home/old', 'deleted', 0, 0, NULL),
  (11, 1, '/home/plain', 'file', 1, 1, 'x'), (12, 2, '/home/plain', 'file', 1, 1, 'x'),
  (13, 1, '/home/none', 'file 000', 1, 1, 'x'), (14, 2, '/home/none', 'file 000', 1, 1, 'x'),
  (15, 1, '/home/pipe', 'other', 0, 0, NULL), (16, 2, '/home/pipe', 'other', 0, 0, NULL);
INSERT INTO stack VALUES (2, 777, 'answer at server.c:12 (server)
main at server.c:30 (server)
__libc_start_call_main (libc.so.6)');
INSERT INTO candidate VALUES
  (2, 2, 1, 'fgets=NULL when once', 'fgets=NULL', 'fgets', '/home/server', 'server.c', 12, NULL, NULL, 1, 1.0, 1, NULL, NULL),
  (3, 2, 2, 'send=-1/EPIPE when once', 'send=-1/EPIPE', 'send', '/home/server', 'server.c', 14, NULL, NULL, 2, 1.0, 1, NULL, NULL),
  (4, 2, 3, 'access=-1/EACCES when once', 'access=-1/EACCES', 'access', '/home/server', 'server.c', 15, NULL, NULL, 3, 1.0, 1, NULL, NULL),
  (5, 2, 4, 'stat=-1/EIO when once', 'stat=-1/EIO', 'stat', '/home/server', 'server.c', 16, NULL, NULL, 4, 1.0, 1, NULL, NULL),
  (6, 2, 5, 'stat=-1/EACCES when once', 'stat=-1/EACCES', 'stat', '/home/server', 'server.c', 16, NULL, NULL, 5, 1.0, 0, NULL, NULL);
INSERT INTO trial VALUES
  (2, 2, 2, 1, 1, 'fgets=NULL when once', 'silent', '''/home/data'' is lost: it is empty, with neither its old content nor the new (fault 1 in this life of the server)', 'exit', 0, 0.5, 1.0, 1, NULL, NULL, NULL, NULL, NULL, 0, NULL),
  (3, 2, 3, 2, 2, 'send=-1/EPIPE when once', 'silent', '''/home/out'' has other content (fault 2) (fault 12 in this life of the server)', 'exit', 0, 0.5, 2.0, 1, NULL, NULL, NULL, NULL, NULL, 0, 'forked'),
  (4, 2, 4, 3, 3, 'access=-1/EACCES when once', 'crash', 'SIGSEGV at 0x0 in server, in answer (server) (fault 1 in this life of the server)', 'signal', 11, 0.5, 3.0, 1, NULL, 'SIGSEGV at 0x0 in server', 2, NULL, NULL, 0, 'checked'),
  (5, 2, 5, 4, 4, 'stat=-1/EIO when once', 'unstable', 'posttest failed', 'timeout', 0, 0.5, 4.0, 1, NULL, NULL, NULL, NULL, NULL, 0, 'disputed');
INSERT INTO injection VALUES
  (1, 4, 'access=-1/EACCES', 'access', '/home/server', 'server.c', 15, 'answer', 4660, 1, 1, 1, 'server', 0.25, 2);
INSERT INTO finding VALUES
  (2, 2, 'silent', 'silent data loss after fgets in answer', 'server loses data', 'fgets called in answer', NULL, NULL, NULL, 2, 1, 'ordeal replay 2', 1, NULL),
  (3, 2, 'silent', 'silent files after send in answer', 'server gets out wrong', 'send called in answer', NULL, NULL, NULL, 3, 1, 'ordeal replay 3', 0, NULL),
  (4, 2, 'crash', 'crash SIGSEGV in answer (server)', 'server crashes', 'access called in answer', 'server.c', 15, 2, 4, 1, 'ordeal replay 4', 2, NULL),
  (5, 2, 'unstable', 'unstable posttest after stat in answer', 'server leaves something broken behind', 'stat called in answer', NULL, NULL, NULL, 5, 1, 'ordeal replay 5', 0, NULL);
UPDATE trial SET finding = id WHERE id BETWEEN 2 AND 5;
INSERT INTO campaign VALUES (3, 'test', 'library', 'campaign: test
injector:
  library:
    faults: [auto]
selection:
  kind: all
  weights: /home/weights
  order: listed
  since: /home/earlier.db
oracle:
  compare: [stdout]
', 'cp in out', '/home', '[]', '0.1.0', 'Linux', NULL, '7 more outputs vary between reference runs', 7, 1700000000, 9.5, 3, 3, 'interrupted', 'interrupt');
INSERT INTO reference VALUES (3, 3, 1, 'exit', 0, 0.5), (4, 3, 2, 'signal', 15, 0.75);
INSERT INTO artifact VALUES (17, 3, '/home/out', 'file 644', 2, 5, NULL), (18, 4, '/home/out', 'file 644', 2, 6, NULL);
INSERT INTO candidate VALUES (7, 3, 1, 'read=-1/EIO', 'read=-1/EIO', 'read', NULL, NULL, NULL, NULL, 'unchecked', 1, 1.0, 1, 99, NULL),
  (8, 3, 2, 'read=-1/EIO', 'read=-1/EIO', 'read', NULL, NULL, NULL, NULL, 'unchecked', 1, 1.0, 0, 99, 'pass');
INSERT INTO trial VALUES (6, 3, 7, 1, 1, 'read=-1/EIO', 'graceful', 'exit status 1 instead of 0', 'exit', 1, 0.5, 1.0, 1, NULL, NULL, NULL, NULL, NULL, 0, NULL);
ALTER TABLE campaign ADD COLUMN automatic INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaign ADD COLUMN selection TEXT NOT NULL DEFAULT 'all'
  CHECK (selection = 'all' OR selection = 'sample' OR selection = 'sweep');
ALTER TABLE campaign ADD COLUMN per TEXT;
ALTER TABLE campaign ADD COLUMN weighted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaign ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaign ADD COLUMN changes_only INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaign ADD COLUMN long_lived INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaign ADD COLUMN filtered INTEGER NOT NULL DEFAULT 0;
ALTER TABLE artifact ADD COLUMN mode INTEGER;
ALTER TABLE trial ADD COLUMN round INTEGER;
ALTER TABLE finding ADD COLUMN severity TEXT CHECK (severity IS NULL OR
    severity = 'critical' OR severity = 'high' OR severity = 'medium');
CREATE TABLE remark (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind = 'note' OR kind = 'untested' OR kind = 'varies'),
  about TEXT,
  text TEXT NOT NULL
);
CREATE INDEX remark_campaign ON remark (campaign);
UPDATE artifact SET kind = 'file', mode = 420 WHERE kind = 'file 644';
ALTER TABLE campaign DROP COLUMN warnings;
