-- SPDX-License-Identifier: GPL-3.0-or-later
-- A file of campaigns with the tables of schema 15, made from store-14.sql; never to be changed.
PRAGMA application_id = 1330791500; PRAGMA user_version = 15;
CREATE TABLE verdict (
  word TEXT PRIMARY KEY,
  severity INTEGER NOT NULL UNIQUE, -- 1 is the worst
  counts INTEGER NOT NULL, -- was a test of the target
  failure INTEGER NOT NULL,
  meaning TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO verdict VALUES('crash',1,1,1,'a process died of a signal, or a checker reported an error');
INSERT INTO verdict VALUES('deliberate',6,1,0,'it decided to abort, and said so');
INSERT INTO verdict VALUES('graceful',7,1,0,'the error was reported');
INSERT INTO verdict VALUES('hang',2,1,1,'still running when its time was over');
INSERT INTO verdict VALUES('invalid',10,0,0,'the trial could not be run');
INSERT INTO verdict VALUES('not-activated',9,0,0,'the fault was never hit');
INSERT INTO verdict VALUES('pass',8,1,0,'as without the fault');
INSERT INTO verdict VALUES('silent',3,1,1,'results changed and nothing was reported');
INSERT INTO verdict VALUES('unstable',5,1,1,'the posttest failed');
INSERT INTO verdict VALUES('wrong-output',4,1,1,'results changed though success was claimed, or data was lost');
CREATE TABLE campaign (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  injector TEXT NOT NULL,
  definition TEXT NOT NULL, -- YAML
  command TEXT NOT NULL,
  directory TEXT NOT NULL,
  version TEXT NOT NULL,
  machine TEXT NOT NULL,
  program TEXT, -- size, time of change in ns, build ID, path
  seed INTEGER NOT NULL,
  created_s INTEGER NOT NULL, -- since 1970
  elapsed_s REAL NOT NULL,
  candidates INTEGER NOT NULL,
  planned INTEGER, -- NULL: not known yet
  state TEXT NOT NULL CHECK (state = 'running' OR state = 'interrupted' OR state = 'finished')
, stopped_by TEXT, automatic INTEGER NOT NULL DEFAULT 0, selection TEXT NOT NULL DEFAULT 'all'
  CHECK (selection = 'all' OR selection = 'sample' OR selection = 'sweep'), per TEXT, weighted INTEGER NOT NULL DEFAULT 0, listed INTEGER NOT NULL DEFAULT 0, changes_only INTEGER NOT NULL DEFAULT 0, long_lived INTEGER NOT NULL DEFAULT 0, filtered INTEGER NOT NULL DEFAULT 0, environment_key TEXT);
INSERT INTO campaign VALUES(1,'copy','library','workload: cp in out','cp in out','/home','0.1.0','Linux',NULL,-1,1700000000,1.5,1,NULL,'finished',NULL,0,'all',NULL,0,0,0,0,0,NULL);
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
, mode INTEGER, format TEXT, decoded INTEGER NOT NULL DEFAULT 0, inside INTEGER NOT NULL DEFAULT 0);
CREATE TABLE stack (
  id INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,
  text TEXT NOT NULL -- one frame per line, innermost first
);
INSERT INTO stack VALUES(1,12345,replace('copy\nmain','\n',char(10)));
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
  selected INTEGER NOT NULL CHECK (selected IN (0, 1)), content INTEGER, carried TEXT, basis TEXT CHECK (basis IS NULL OR basis = 'system' OR
    basis = 'calls' OR basis = 'input'),
  UNIQUE (campaign, number)
);
INSERT INTO candidate VALUES(1,1,1,'read=-1/EIO when count == 3','read=-1/EIO','read',NULL,NULL,NULL,NULL,NULL,0,1.0,1,NULL,NULL,NULL);
CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  candidate INTEGER NOT NULL REFERENCES candidate ON DELETE CASCADE,
  number INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  spec TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict = 'crash' OR verdict = 'hang' OR verdict = 'silent' OR
    verdict = 'wrong-output' OR verdict = 'unstable' OR verdict = 'graceful' OR
    verdict = 'deliberate' OR verdict = 'pass' OR verdict = 'not-activated' OR verdict = 'invalid'),
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
, way TEXT CHECK (way IS NULL OR way = 'forked' OR
    way = 'checked' OR way = 'disputed'), round INTEGER, damage TEXT CHECK (damage IS NULL OR damage = 'fired' OR
    damage = 'fell' OR damage = 'time' OR damage = 'record' OR damage = 'mark' OR
    damage = 'header'), carried INTEGER NOT NULL DEFAULT 0, proving INTEGER NOT NULL DEFAULT 0);
INSERT INTO trial VALUES(1,1,1,1,7,'read=-1/EIO when count == 3','crash','died of SIGSEGV','signal',11,0.25,0.5,1,NULL,'SIGSEGV at 0x0',1,NULL,1,0,NULL,NULL,NULL,0,0);
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
CREATE TABLE finding (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  verdict TEXT NOT NULL CHECK (verdict = 'crash' OR verdict = 'hang' OR verdict = 'silent' OR
    verdict = 'wrong-output' OR verdict = 'unstable' OR verdict = 'graceful' OR
    verdict = 'deliberate' OR verdict = 'pass' OR verdict = 'not-activated' OR verdict = 'invalid'),
  cause TEXT NOT NULL,
  title TEXT NOT NULL,
  site TEXT,
  file TEXT,
  line INTEGER,
  stack INTEGER REFERENCES stack,
  trial INTEGER REFERENCES trial ON DELETE SET NULL, -- the simplest
  trials INTEGER NOT NULL,
  command TEXT NOT NULL,
  confirmed INTEGER NOT NULL CHECK (confirmed BETWEEN 0 AND 2), suppressed TEXT, severity TEXT CHECK (severity IS NULL OR
    severity = 'critical' OR severity = 'high' OR severity = 'medium'), carried TEXT, carried_s INTEGER, proof TEXT CHECK (proof IS NULL OR proof = 'certain' OR
    proof = 'caused' OR proof = 'unproven' OR proof = 'impossible'), proof_tries INTEGER NOT NULL DEFAULT 0, proof_trial INTEGER, proof_call TEXT, proof_error TEXT, proof_caller TEXT, proof_result TEXT, proof_lasting INTEGER NOT NULL DEFAULT 0, library TEXT,
  -- run again, the trial 1: showed it, 2: did not; 0: not tried
  UNIQUE (campaign, cause)
);
INSERT INTO finding VALUES(1,1,'crash','copy','SIGSEGV in copy','read in copy',NULL,NULL,1,1,1,'ordeal replay 1',0,NULL,'high',NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,0,NULL);
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
CREATE TABLE line_coverage (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  file TEXT NOT NULL,
  lines INTEGER NOT NULL,
  before INTEGER NOT NULL, -- covered without any fault
  after INTEGER NOT NULL -- with the trials, too
);
CREATE TABLE remark (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind = 'note' OR kind = 'untested' OR kind = 'varies'),
  about TEXT,
  text TEXT NOT NULL
);
CREATE TABLE variable (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT, -- NULL: not stored
  hash TEXT -- of a value that is not stored
);
CREATE TABLE consequence (
  id INTEGER PRIMARY KEY,
  finding INTEGER NOT NULL REFERENCES finding ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind = 'fails' OR
    kind = 'unwritten' OR
    kind = 'tested' OR
    kind = 'tested-late' OR
    kind = 'tested-sometimes' OR
    kind = 'errno-only' OR
    kind = 'compared' OR
    kind = 'untested' OR
    kind = 'ignored' OR
    kind = 'returned' OR
    kind = 'stored' OR
    kind = 'passed' OR
    kind = 'read-back' OR
    kind = 'reads' OR
    kind = 'writes' OR
    kind = 'accesses' OR
    kind = 'jumps' OR
    kind = 'dies' OR
    kind = 'heap' OR
    kind = 'aborts' OR
    kind = 'waits' OR
    kind = 'busy' OR
    kind = 'lost' OR
    kind = 'empties' OR
    kind = 'lacks' OR
    kind = 'differs' OR
    kind = 'leaves' OR
    kind = 'succeeds'),
  probable INTEGER NOT NULL CHECK (probable IN (0, 1)),
  function TEXT,
  name TEXT,
  argument INTEGER,
  number INTEGER NOT NULL,
  module TEXT,
  offset INTEGER NOT NULL,
  symbol TEXT,
  start INTEGER NOT NULL,
  file TEXT,
  line INTEGER
);
CREATE INDEX artifact_reference ON artifact (reference);
CREATE INDEX stack_hash ON stack (hash);
CREATE INDEX candidate_selected ON candidate (campaign, number) WHERE selected = 1;
CREATE UNIQUE INDEX trial_number ON trial (campaign, number) WHERE confirmation = 0;
CREATE INDEX trial_verdict ON trial (campaign, confirmation, verdict, candidate);
CREATE INDEX trial_candidate ON trial (candidate);
CREATE INDEX trial_finding ON trial (finding) WHERE finding IS NOT NULL;
CREATE INDEX injection_trial ON injection (trial);
CREATE INDEX finding_trial ON finding (trial);
CREATE INDEX recovery_campaign ON recovery (campaign);
CREATE INDEX line_coverage_campaign ON line_coverage (campaign);
CREATE INDEX remark_campaign ON remark (campaign);
CREATE INDEX variable_campaign ON variable (campaign);
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
CREATE INDEX consequence_finding ON consequence (finding);
ALTER TABLE finding ADD COLUMN part_of INTEGER;
CREATE TABLE invocation (
  id INTEGER PRIMARY KEY,
  trial INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
  number INTEGER NOT NULL,
  differing INTEGER NOT NULL,
  same_status INTEGER NOT NULL CHECK (same_status IN (0, 1)),
  same_time INTEGER NOT NULL CHECK (same_time IN (0, 1)),
  call TEXT,
  about TEXT,
  trace BLOB
);
CREATE INDEX invocation_trial ON invocation (trial);
ALTER TABLE finding ADD COLUMN scope TEXT CHECK (scope IS NULL OR
    scope = 'mine' OR scope = 'tool');
ALTER TABLE campaign ADD COLUMN settings TEXT;
CREATE TABLE upsets (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  points INTEGER NOT NULL,
  instructions INTEGER NOT NULL,
  bits INTEGER NOT NULL,
  unread INTEGER NOT NULL,
  classes INTEGER NOT NULL,
  all_classes INTEGER NOT NULL,
  read REAL NOT NULL
);
CREATE INDEX upsets_campaign ON upsets (campaign);
CREATE TABLE latency (
  id INTEGER PRIMARY KEY,
  trial INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
  seconds REAL NOT NULL
);
CREATE INDEX latency_trial ON latency (trial);
CREATE TABLE propagation (
  id INTEGER PRIMARY KEY,
  trial INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
  outcome TEXT NOT NULL CHECK (outcome = 'same' OR outcome = 'differs' OR
    outcome = 'diverged'),
  call INTEGER NOT NULL,
  function TEXT,
  corrupted INTEGER NOT NULL,
  wrong INTEGER NOT NULL,
  omitted INTEGER NOT NULL,
  spurious INTEGER NOT NULL,
  result TEXT CHECK (result IS NULL OR result = 'minus-one' OR result = 'null' OR
    result = 'zero' OR result = 'wrong-pointer' OR result = 'wrong-value'),
  profile TEXT
);
CREATE INDEX propagation_trial ON propagation (trial);
