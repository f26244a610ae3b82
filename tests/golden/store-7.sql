-- SPDX-License-Identifier: GPL-3.0-or-later
-- A file of campaigns as schema 7 made it; never to be changed.
PRAGMA application_id = 1330791500; PRAGMA user_version = 7;
CREATE TABLE verdict (
  word TEXT PRIMARY KEY,
  severity INTEGER NOT NULL UNIQUE, -- 1 is the worst
  counts INTEGER NOT NULL, -- was a test of the target
  failure INTEGER NOT NULL,
  meaning TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO verdict VALUES('crash',1,1,1,'a process died of a signal, or a checker reported an error');
INSERT INTO verdict VALUES('graceful',6,1,0,'the error was reported');
INSERT INTO verdict VALUES('hang',2,1,1,'still running when its time was over');
INSERT INTO verdict VALUES('invalid',9,0,0,'the trial could not be run');
INSERT INTO verdict VALUES('not-activated',8,0,0,'the fault was never hit');
INSERT INTO verdict VALUES('pass',7,1,0,'as without the fault');
INSERT INTO verdict VALUES('silent',3,1,1,'results changed and nothing was reported');
INSERT INTO verdict VALUES('unstable',5,1,1,'the posttest failed');
INSERT INTO verdict VALUES('wrong-output',4,1,1,'results changed though success was claimed');
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
INSERT INTO campaign VALUES(2,'server','library',replace('campaign: server\ncommand: [./server, "7411", file]\nenvironment: ["A"]\ninjector:\n  library:\n    faults: [fgets=NULL, send=-1/EPIPE, wirte=-1/EIO]\nselection:\n  sample: 2\n  kind: sample\n  per: function\n  most: 10000\n  order: listed\n  repeat: 1\noracle:\n  references: 2\n  compare: [stdout, files]\n  ignore: ["*/log"]\n  filters: []\n  timeout:\n    factor: 10\nserver:\n  ready: port 7411\n  long_lived: true\nsandbox:\n  kind: overlay\n','\n',char(10)),'./server 7411 file','/home','0.1.0','Linux',NULL,7,1700000000,9.5,5,5,'finished','max trials',0,'sample','function',0,1,0,1,1,NULL);
INSERT INTO campaign VALUES(3,'test','library',replace('campaign: test\ninjector:\n  library:\n    faults: [auto]\nselection:\n  kind: all\n  weights: /home/weights\n  order: listed\n  since: /home/earlier.db\noracle:\n  compare: [stdout]\n','\n',char(10)),'cp in out','/home','0.1.0','Linux',NULL,7,1700000000,9.5,3,3,'interrupted','interrupt',1,'all',NULL,1,1,1,0,1,NULL);
INSERT INTO campaign VALUES(4,'deploy','library',replace('campaign: deploy\ncommand: [./deploy, "Bearer <secret:GOLDEN_TOKEN>", "<secret:QUOTED_KEY>"]\ndirectory: /home\nenvironment: ["GOLDEN_TOKEN", "QUOTED_KEY", "PATH=/usr/bin:/bin", "LC_ALL=C", "EDITOR", "EMPTY", "NOTE"]\nsetup: []\ninjector:\n  library:\n    faults: ["read=-1/EIO"]\n','\n',char(10)),'./deploy ''Bearer <secret:GOLDEN_TOKEN>'' ''<secret:QUOTED_KEY>''','/home','0.1.0','Linux',NULL,7,1700000000,9.5,1,1,'finished',NULL,0,'all',NULL,0,0,0,0,0,NULL);
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
INSERT INTO reference VALUES(1,2,1,'exit',0,0.5);
INSERT INTO reference VALUES(2,2,2,'exit',0,0.75);
INSERT INTO reference VALUES(3,3,1,'exit',0,0.5);
INSERT INTO reference VALUES(4,3,2,'signal',15,0.75);
INSERT INTO reference VALUES(5,4,1,'exit',0,0.5);
CREATE TABLE artifact (
  id INTEGER PRIMARY KEY,
  reference INTEGER NOT NULL REFERENCES reference ON DELETE CASCADE,
  path TEXT NOT NULL,
  kind TEXT NOT NULL,
  size INTEGER NOT NULL,
  hash INTEGER NOT NULL,
  content BLOB
, mode INTEGER);
INSERT INTO artifact VALUES(1,1,'<stdout>','stream',5,1,'hallo',NULL);
INSERT INTO artifact VALUES(2,2,'<stdout>','stream',5,2,'hello',NULL);
INSERT INTO artifact VALUES(3,1,'/home/log','file',1,3,'a',416);
INSERT INTO artifact VALUES(4,2,'/home/log','file',1,4,'b',416);
INSERT INTO artifact VALUES(5,1,'/home/out','file',2,5,NULL,2541);
INSERT INTO artifact VALUES(6,2,'/home/out','file',2,6,NULL,2541);
INSERT INTO artifact VALUES(7,1,'/home/new','directory',0,0,NULL,493);
INSERT INTO artifact VALUES(8,2,'/home/new','directory',0,0,NULL,493);
INSERT INTO artifact VALUES(9,1,'/home/old','deleted',0,0,NULL,NULL);
INSERT INTO artifact VALUES(10,2,'/home/old','deleted',0,0,NULL,NULL);
INSERT INTO artifact VALUES(11,1,'/home/plain','file',1,1,'x',NULL);
INSERT INTO artifact VALUES(12,2,'/home/plain','file',1,1,'x',NULL);
INSERT INTO artifact VALUES(13,1,'/home/none','file',1,1,'x',0);
INSERT INTO artifact VALUES(14,2,'/home/none','file',1,1,'x',0);
INSERT INTO artifact VALUES(15,1,'/home/pipe','other',0,0,NULL,NULL);
INSERT INTO artifact VALUES(16,2,'/home/pipe','other',0,0,NULL,NULL);
INSERT INTO artifact VALUES(17,3,'/home/out','file',2,5,NULL,420);
INSERT INTO artifact VALUES(18,4,'/home/out','file',2,6,NULL,420);
INSERT INTO artifact VALUES(19,5,'<stdout>','stream',30,1,X'7573696e67203c7365637265743a474f4c44454e5f544f4b454e3e0a',NULL);
CREATE TABLE stack (
  id INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,
  text TEXT NOT NULL -- one frame per line, innermost first
);
INSERT INTO stack VALUES(1,12345,replace('copy\nmain','\n',char(10)));
INSERT INTO stack VALUES(2,777,replace('answer at server.c:12 (server)\nmain at server.c:30 (server)\n__libc_start_call_main (libc.so.6)','\n',char(10)));
INSERT INTO stack VALUES(5,778,'send at <secret:GOLDEN_TOKEN>.c:12 (deploy)');
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
  selected INTEGER NOT NULL CHECK (selected IN (0, 1)), content INTEGER, carried TEXT,
  UNIQUE (campaign, number)
);
INSERT INTO candidate VALUES(1,1,1,'read=-1/EIO when count == 3','read=-1/EIO','read',NULL,NULL,NULL,NULL,NULL,0,1.0,1,NULL,NULL);
INSERT INTO candidate VALUES(2,2,1,'fgets=NULL when once','fgets=NULL','fgets','/home/server','server.c',12,NULL,NULL,1,1.0,1,NULL,NULL);
INSERT INTO candidate VALUES(3,2,2,'send=-1/EPIPE when once','send=-1/EPIPE','send','/home/server','server.c',14,NULL,NULL,2,1.0,1,NULL,NULL);
INSERT INTO candidate VALUES(4,2,3,'access=-1/EACCES when once','access=-1/EACCES','access','/home/server','server.c',15,NULL,NULL,3,1.0,1,NULL,NULL);
INSERT INTO candidate VALUES(5,2,4,'stat=-1/EIO when once','stat=-1/EIO','stat','/home/server','server.c',16,NULL,NULL,4,1.0,1,NULL,NULL);
INSERT INTO candidate VALUES(6,2,5,'stat=-1/EACCES when once','stat=-1/EACCES','stat','/home/server','server.c',16,NULL,NULL,5,1.0,0,NULL,NULL);
INSERT INTO candidate VALUES(7,3,1,'read=-1/EIO','read=-1/EIO','read',NULL,NULL,NULL,NULL,'unchecked',1,1.0,1,99,NULL);
INSERT INTO candidate VALUES(8,3,2,'read=-1/EIO','read=-1/EIO','read',NULL,NULL,NULL,NULL,'unchecked',1,1.0,0,99,'pass');
INSERT INTO candidate VALUES(9,4,1,'read=-1/EIO when path("<secret:GOLDEN_TOKEN>")','read=-1/EIO','read',NULL,NULL,NULL,NULL,NULL,1,1.0,1,NULL,NULL);
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
, way TEXT CHECK (way IS NULL OR way = 'forked' OR
    way = 'checked' OR way = 'disputed'), round INTEGER, damage TEXT CHECK (damage IS NULL OR damage = 'fired' OR
    damage = 'fell' OR damage = 'time' OR damage = 'record' OR damage = 'mark' OR
    damage = 'header'), carried INTEGER NOT NULL DEFAULT 0);
INSERT INTO trial VALUES(1,1,1,1,7,'read=-1/EIO when count == 3','crash','died of SIGSEGV','signal',11,0.25,0.5,1,NULL,'SIGSEGV at 0x0',1,NULL,1,0,NULL,NULL,NULL,0);
INSERT INTO trial VALUES(2,2,2,1,1,'fgets=NULL when once','silent','''/home/data'' is lost: it is empty, with neither its old content nor the new (fault 1 in this life of the server)','exit',0,0.5,1.0,1,NULL,NULL,NULL,NULL,2,0,NULL,1,NULL,0);
INSERT INTO trial VALUES(3,2,3,2,2,'send=-1/EPIPE when once','silent','''/home/out'' has other content (fault 2) (fault 12 in this life of the server)','exit',0,0.5,2.0,1,NULL,NULL,NULL,NULL,3,0,'forked',12,NULL,0);
INSERT INTO trial VALUES(4,2,4,3,3,'access=-1/EACCES when once','crash','SIGSEGV at 0x0 in server, in answer (server) (fault 1 in this life of the server)','signal',11,0.5,3.0,1,NULL,'SIGSEGV at 0x0 in server',2,NULL,4,0,'checked',1,NULL,0);
INSERT INTO trial VALUES(5,2,5,4,4,'stat=-1/EIO when once','unstable','posttest failed','timeout',0,0.5,4.0,1,NULL,NULL,NULL,NULL,5,0,'disputed',NULL,NULL,0);
INSERT INTO trial VALUES(6,3,7,1,1,'read=-1/EIO','graceful','exit status 1 instead of 0','exit',1,0.5,1.0,1,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,0);
INSERT INTO trial VALUES(7,4,9,1,1,'read=-1/EIO when path("<secret:GOLDEN_TOKEN>")','crash','SIGSEGV; stderr: ''<secret:GOLDEN_TOKEN>''','signal',11,0.5,1.0,1,NULL,'SIGSEGV',5,'cannot send <secret:GOLDEN_TOKEN>',6,0,NULL,NULL,NULL,0);
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
INSERT INTO injection VALUES(1,4,'access=-1/EACCES','access','/home/server','server.c',15,'answer',4660,1,1,1,'server',0.25,2);
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
  confirmed INTEGER NOT NULL CHECK (confirmed BETWEEN 0 AND 2), suppressed TEXT, severity TEXT CHECK (severity IS NULL OR
    severity = 'critical' OR severity = 'high' OR severity = 'medium'), carried TEXT, carried_s INTEGER,
  -- run again, the trial 1: showed it, 2: did not; 0: not tried
  UNIQUE (campaign, cause)
);
INSERT INTO finding VALUES(1,1,'crash','copy','SIGSEGV in copy','read in copy',NULL,NULL,1,1,1,'ordeal replay 1',0,NULL,'high',NULL,NULL);
INSERT INTO finding VALUES(2,2,'silent','silent data loss after fgets in answer','server loses data','fgets called in answer',NULL,NULL,NULL,2,1,'ordeal replay 2',1,NULL,'critical',NULL,NULL);
INSERT INTO finding VALUES(3,2,'silent','silent files after send in answer','server gets out wrong','send called in answer',NULL,NULL,NULL,3,1,'ordeal replay 3',0,NULL,'high',NULL,NULL);
INSERT INTO finding VALUES(4,2,'crash','crash SIGSEGV in answer (server)','server crashes','access called in answer','server.c',15,2,4,1,'ordeal replay 4',2,NULL,'high',NULL,NULL);
INSERT INTO finding VALUES(5,2,'unstable','unstable posttest after stat in answer','server leaves something broken behind','stat called in answer',NULL,NULL,NULL,5,1,'ordeal replay 5',0,NULL,'medium',NULL,NULL);
INSERT INTO finding VALUES(6,4,'crash','crash SIGSEGV <secret:GOLDEN_TOKEN>','deploy crashes','read',NULL,NULL,5,7,1,'GOLDEN_TOKEN=<secret:GOLDEN_TOKEN> ordeal run --inject read=-1/EIO -- ./deploy ''Bearer <secret:GOLDEN_TOKEN>''',1,NULL,'high',NULL,NULL);
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
INSERT INTO remark VALUES(1,2,'untested','wirte=-1/EIO','wirte is never called, but write is');
INSERT INTO remark VALUES(2,2,'varies','/home/out','''/home/out'' varies and is no text; it is not compared');
INSERT INTO remark VALUES(3,2,'varies','<stdout>','stdout: lines 3 and 4 vary; they are not compared');
INSERT INTO remark VALUES(4,2,'note',NULL,'trials run one at a time');
INSERT INTO remark VALUES(5,3,'varies',NULL,'7 more outputs vary between reference runs');
INSERT INTO remark VALUES(6,4,'note',NULL,'the setup says <secret:GOLDEN_TOKEN>');
CREATE TABLE variable (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT, -- NULL: not stored
  hash TEXT -- of a value that is not stored
);
INSERT INTO variable VALUES(1,2,'A',NULL,NULL);
INSERT INTO variable VALUES(2,4,'GOLDEN_TOKEN',NULL,NULL);
INSERT INTO variable VALUES(3,4,'QUOTED_KEY',NULL,NULL);
INSERT INTO variable VALUES(4,4,'PATH','/usr/bin:/bin',NULL);
INSERT INTO variable VALUES(5,4,'LC_ALL','C',NULL);
INSERT INTO variable VALUES(6,4,'EDITOR',NULL,NULL);
INSERT INTO variable VALUES(7,4,'EMPTY',NULL,NULL);
INSERT INTO variable VALUES(8,4,'NOTE',NULL,NULL);
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
