// SPDX-License-Identifier: GPL-3.0-or-later
// The schema: words and numbers as a person would query them. docs/ordeal-store.5 explains the
// columns. Only the queries of query.c and foreign keys get an index, since each index costs time
// for every trial.
#include "store/schema.h"

// Not IN (…): SQLite would fill a temporary index for it anew for every row that is added.
#define CHECK_VERDICT                                                                              \
    "CHECK (verdict = 'crash' OR verdict = 'hang' OR verdict = 'silent' OR\n"                      \
    "    verdict = 'wrong-output' OR verdict = 'unstable' OR verdict = 'graceful' OR\n"            \
    "    verdict = 'pass' OR verdict = 'not-activated' OR verdict = 'invalid')"
#define CHECK_OUTCOME                                                                              \
    "CHECK (outcome = 'exit' OR outcome = 'signal' OR outcome = 'timeout' OR\n"                    \
    "    outcome = 'none')"

static const char tables[] =
    "CREATE TABLE verdict (\n"
    "  word TEXT PRIMARY KEY,\n"
    "  severity INTEGER NOT NULL UNIQUE, -- 1 is the worst\n"
    "  counts INTEGER NOT NULL, -- was a test of the target\n"
    "  failure INTEGER NOT NULL,\n"
    "  meaning TEXT NOT NULL\n"
    ") WITHOUT ROWID;\n"
    "INSERT INTO verdict VALUES\n"
    "  ('crash', 1, 1, 1, 'a process died of a signal, or a checker reported an error'),\n"
    "  ('hang', 2, 1, 1, 'still running when its time was over'),\n"
    "  ('silent', 3, 1, 1, 'results changed and nothing was reported'),\n"
    "  ('wrong-output', 4, 1, 1, 'results changed though success was claimed'),\n"
    "  ('unstable', 5, 1, 1, 'the posttest failed'),\n"
    "  ('graceful', 6, 1, 0, 'the error was reported'),\n"
    "  ('pass', 7, 1, 0, 'as without the fault'),\n"
    "  ('not-activated', 8, 0, 0, 'the fault was never hit'),\n"
    "  ('invalid', 9, 0, 0, 'the trial could not be run');\n"
    "CREATE TABLE campaign (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  name TEXT NOT NULL,\n"
    "  injector TEXT NOT NULL,\n"
    "  definition TEXT NOT NULL, -- YAML\n"
    "  command TEXT NOT NULL,\n"
    "  directory TEXT NOT NULL,\n"
    "  environment TEXT NOT NULL, -- JSON\n"
    "  version TEXT NOT NULL,\n"
    "  machine TEXT NOT NULL,\n"
    "  program TEXT, -- size, time of change in ns, build ID, path\n"
    "  warnings TEXT,\n"
    "  seed INTEGER NOT NULL,\n"
    "  created_s INTEGER NOT NULL, -- since 1970\n"
    "  elapsed_s REAL NOT NULL,\n"
    "  candidates INTEGER NOT NULL,\n"
    "  planned INTEGER, -- NULL: not known yet\n"
    "  state TEXT NOT NULL CHECK (state = 'running' OR state = 'interrupted' OR state = "
    "'finished')\n"
    ");\n"
    "CREATE TABLE reference (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,\n"
    "  number INTEGER NOT NULL,\n"
    "  outcome TEXT NOT NULL " CHECK_OUTCOME ",\n"
    "  status INTEGER NOT NULL,\n"
    "  seconds REAL NOT NULL,\n"
    "  UNIQUE (campaign, number)\n"
    ");\n"
    "CREATE TABLE artifact (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  reference INTEGER NOT NULL REFERENCES reference ON DELETE CASCADE,\n"
    "  path TEXT NOT NULL,\n"
    "  kind TEXT NOT NULL,\n"
    "  size INTEGER NOT NULL,\n"
    "  hash INTEGER NOT NULL,\n"
    "  content BLOB\n"
    ");\n"
    "CREATE INDEX artifact_reference ON artifact (reference);\n"
    "CREATE TABLE stack (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  hash INTEGER NOT NULL,\n"
    "  text TEXT NOT NULL -- one frame per line, innermost first\n"
    ");\n"
    "CREATE INDEX stack_hash ON stack (hash);\n"
    "CREATE TABLE candidate (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,\n"
    "  number INTEGER NOT NULL,\n"
    "  spec TEXT NOT NULL,\n"
    "  type TEXT NOT NULL,\n"
    "  function TEXT,\n"
    "  module TEXT,\n"
    "  file TEXT,\n"
    "  line INTEGER,\n"
    "  component TEXT,\n"
    "  series TEXT,\n"
    "  position INTEGER NOT NULL,\n"
    "  weight REAL NOT NULL,\n"
    "  selected INTEGER NOT NULL CHECK (selected IN (0, 1)),\n"
    "  UNIQUE (campaign, number)\n"
    ");\n"
    "CREATE INDEX candidate_selected ON candidate (campaign, number) WHERE selected = 1;\n"
    "CREATE TABLE trial (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,\n"
    "  candidate INTEGER NOT NULL REFERENCES candidate ON DELETE CASCADE,\n"
    "  number INTEGER NOT NULL,\n"
    "  seed INTEGER NOT NULL,\n"
    "  spec TEXT NOT NULL,\n"
    "  verdict TEXT NOT NULL " CHECK_VERDICT ",\n"
    "  reason TEXT NOT NULL,\n"
    "  outcome TEXT NOT NULL " CHECK_OUTCOME ",\n"
    "  status INTEGER NOT NULL,\n"
    "  seconds REAL NOT NULL,\n"
    "  started_s REAL NOT NULL,\n"
    "  activations INTEGER NOT NULL,\n"
    "  plan_hash INTEGER,\n"
    "  crash TEXT,\n"
    "  stack INTEGER REFERENCES stack,\n"
    "  output TEXT,\n"
    "  finding INTEGER REFERENCES finding ON DELETE SET NULL,\n"
    "  confirmation INTEGER NOT NULL CHECK (confirmation IN (0, 1))\n"
    ");\n"
    // A trial that counts is stored once, however often the campaign is resumed.
    "CREATE UNIQUE INDEX trial_number ON trial (campaign, number) WHERE confirmation = 0;\n"
    "CREATE INDEX trial_verdict ON trial (campaign, confirmation, verdict, candidate);\n"
    "CREATE INDEX trial_candidate ON trial (candidate);\n"
    "CREATE INDEX trial_finding ON trial (finding) WHERE finding IS NOT NULL;\n"
    "CREATE TABLE injection (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  trial INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,\n"
    "  fault TEXT NOT NULL,\n"
    "  function TEXT,\n"
    "  module TEXT,\n"
    "  file TEXT,\n"
    "  line INTEGER,\n"
    "  symbol TEXT,\n"
    "  offset INTEGER NOT NULL,\n"
    "  occurrence INTEGER NOT NULL,\n"
    "  process INTEGER NOT NULL,\n"
    "  thread INTEGER NOT NULL,\n"
    "  program TEXT,\n"
    "  seconds REAL NOT NULL,\n"
    "  stack INTEGER REFERENCES stack\n"
    ");\n"
    "CREATE INDEX injection_trial ON injection (trial);\n"
    "CREATE TABLE finding (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,\n"
    "  verdict TEXT NOT NULL " CHECK_VERDICT ",\n"
    "  cause TEXT NOT NULL,\n"
    "  title TEXT NOT NULL,\n"
    "  site TEXT,\n"
    "  file TEXT,\n"
    "  line INTEGER,\n"
    "  stack INTEGER REFERENCES stack,\n"
    "  trial INTEGER REFERENCES trial ON DELETE SET NULL, -- the simplest\n"
    "  trials INTEGER NOT NULL,\n"
    "  command TEXT NOT NULL,\n"
    "  confirmed INTEGER NOT NULL CHECK (confirmed BETWEEN 0 AND 2),\n"
    "  -- run again, the trial 1: showed it, 2: did not; 0: not tried\n"
    "  UNIQUE (campaign, cause)\n"
    ");\n"
    "CREATE INDEX finding_trial ON finding (trial);\n";

// For people at the sqlite3 shell. Ordeal itself reads the tables.
static const char views[] =
    "CREATE VIEW verdicts AS\n"
    "  SELECT campaign, word AS verdict, count(*) AS trials,\n"
    "    CASE WHEN counts THEN round(100.0 * count(*) / (\n"
    "      SELECT count(*) FROM trial AS other JOIN verdict AS its ON its.word = other.verdict\n"
    "      WHERE other.campaign = trial.campaign AND other.confirmation = 0 AND its.counts), 1)\n"
    "    END AS percent, meaning\n"
    "  FROM trial JOIN verdict ON word = trial.verdict WHERE confirmation = 0\n"
    "  GROUP BY campaign, word ORDER BY campaign, severity;\n"
    "CREATE VIEW failures AS\n"
    "  SELECT trial.id AS trial, trial.campaign, trial.verdict, trial.spec, reason, crash,\n"
    "    function, file, line, finding\n"
    "  FROM trial JOIN verdict ON word = trial.verdict JOIN candidate ON candidate.id = candidate\n"
    "  WHERE failure AND confirmation = 0 ORDER BY trial.campaign, severity, trial.id;\n"
    "CREATE VIEW sites AS\n"
    "  SELECT trial.campaign, injection.module, symbol, injection.file, injection.line, fault,\n"
    "    count(DISTINCT trial.id) AS trials,\n"
    "    count(DISTINCT CASE WHEN failure THEN trial.id END) AS failures\n"
    "  FROM injection JOIN trial ON trial.id = injection.trial\n"
    "    JOIN verdict ON word = trial.verdict\n"
    "  WHERE confirmation = 0\n"
    "  GROUP BY trial.campaign, injection.module, offset, fault\n"
    "  ORDER BY trial.campaign, failures DESC, trials DESC;\n";

static const char stopped_by[] = "ALTER TABLE campaign ADD COLUMN stopped_by TEXT;\n";

// Measurements besides verdicts, the link between a candidate and its counterpart in other builds,
// and suppressed findings.
static const char measured[] =
    "ALTER TABLE candidate ADD COLUMN content INTEGER;\n"
    "ALTER TABLE candidate ADD COLUMN carried TEXT;\n"
    "ALTER TABLE finding ADD COLUMN suppressed TEXT;\n"
    "CREATE TABLE recovery (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,\n"
    "  module TEXT NOT NULL,\n"
    "  address INTEGER NOT NULL,\n"
    "  code INTEGER NOT NULL, -- its first four bytes\n"
    "  function TEXT,\n"
    "  file TEXT,\n"
    "  line INTEGER,\n"
    "  reached INTEGER NOT NULL CHECK (reached BETWEEN 0 AND 2)\n"
    "  -- 1: without any fault, 2: with one; 0: never\n"
    ");\n"
    "CREATE INDEX recovery_campaign ON recovery (campaign);\n"
    "CREATE TABLE line_coverage (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,\n"
    "  file TEXT NOT NULL,\n"
    "  lines INTEGER NOT NULL,\n"
    "  before INTEGER NOT NULL, -- covered without any fault\n"
    "  after INTEGER NOT NULL -- with the trials, too\n"
    ");\n"
    "CREATE INDEX line_coverage_campaign ON line_coverage (campaign);\n";

// How a trial got its result; NULL: by a run of its own.
static const char ways[] =
    "ALTER TABLE trial ADD COLUMN way TEXT CHECK (way IS NULL OR way = 'forked' OR\n"
    "    way = 'checked' OR way = 'disputed');\n";

// What older versions only said in sentences, or in the definition.
static const char facts[] =
    "ALTER TABLE campaign ADD COLUMN automatic INTEGER NOT NULL DEFAULT 0;\n"
    "ALTER TABLE campaign ADD COLUMN selection TEXT NOT NULL DEFAULT 'all'\n"
    "  CHECK (selection = 'all' OR selection = 'sample' OR selection = 'sweep');\n"
    "ALTER TABLE campaign ADD COLUMN per TEXT;\n"
    "ALTER TABLE campaign ADD COLUMN weighted INTEGER NOT NULL DEFAULT 0;\n"
    "ALTER TABLE campaign ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;\n"
    "ALTER TABLE campaign ADD COLUMN changes_only INTEGER NOT NULL DEFAULT 0;\n"
    "ALTER TABLE campaign ADD COLUMN long_lived INTEGER NOT NULL DEFAULT 0;\n"
    "ALTER TABLE campaign ADD COLUMN filtered INTEGER NOT NULL DEFAULT 0;\n"
    "ALTER TABLE artifact ADD COLUMN mode INTEGER;\n"
    "ALTER TABLE trial ADD COLUMN round INTEGER;\n"
    "ALTER TABLE finding ADD COLUMN severity TEXT CHECK (severity IS NULL OR\n"
    "    severity = 'critical' OR severity = 'high' OR severity = 'medium');\n"
    "CREATE TABLE remark (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,\n"
    "  kind TEXT NOT NULL CHECK (kind = 'note' OR kind = 'untested' OR kind = 'varies'),\n"
    "  about TEXT,\n"
    "  text TEXT NOT NULL\n"
    ");\n"
    "CREATE INDEX remark_campaign ON remark (campaign);\n";

// What the file can vouch for, and what it must not hold.
static const char safety[] =
    // What of a trial's numbers could not be true; NULL: nothing.
    "ALTER TABLE trial ADD COLUMN damage TEXT CHECK (damage IS NULL OR damage = 'fired' OR\n"
    "    damage = 'fell' OR damage = 'time' OR damage = 'record' OR damage = 'mark' OR\n"
    "    damage = 'header');\n"
    // Findings of an earlier campaign that were not tried again.
    "ALTER TABLE trial ADD COLUMN carried INTEGER NOT NULL DEFAULT 0;\n"
    "ALTER TABLE finding ADD COLUMN carried TEXT;\n"
    "ALTER TABLE finding ADD COLUMN carried_s INTEGER;\n"
    // In place of the environment as a whole. older-secrets.c fills the table for older files, and
    // drops the column that held everything.
    "ALTER TABLE campaign ADD COLUMN environment_key TEXT;\n"
    "CREATE TABLE variable (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,\n"
    "  name TEXT NOT NULL,\n"
    "  value TEXT, -- NULL: not stored\n"
    "  hash TEXT -- of a value that is not stored\n"
    ");\n"
    "CREATE INDEX variable_campaign ON variable (campaign);\n";

// The verdict "deliberate", and what "wrong-output" means since. SQLite changes a CHECK only with
// the text of the table's definition (https://sqlite.org/lang_altertable.html, "making other kinds
// of table schema changes").
#define ALLOW(table)                                                                               \
    "UPDATE sqlite_schema SET sql = replace(sql, 'verdict = ''pass''',\n"                          \
    "    'verdict = ''deliberate'' OR verdict = ''pass''') WHERE type = 'table' AND name = "       \
    "'" table "';\n"
static const char deliberate[] =
    "UPDATE verdict SET severity = -severity WHERE severity > 5;\n"
    "UPDATE verdict SET severity = 1 - severity WHERE severity < 0;\n"
    "INSERT INTO verdict VALUES ('deliberate', 6, 1, 0, 'it decided to abort, and said so');\n"
    "UPDATE verdict SET meaning = meaning || ', or data was lost' WHERE word = 'wrong-output';\n"
    "PRAGMA writable_schema = ON;\n" ALLOW("trial")
        ALLOW("finding") "PRAGMA writable_schema = RESET;\n";

// Whether the fault of a finding can happen.
static const char proofs[] =
    // Why the fault is believed to happen; NULL: nobody asked.
    "ALTER TABLE candidate ADD COLUMN basis TEXT CHECK (basis IS NULL OR basis = 'system' OR\n"
    "    basis = 'calls' OR basis = 'input');\n"
    "ALTER TABLE trial ADD COLUMN proving INTEGER NOT NULL DEFAULT 0;\n"
    "ALTER TABLE finding ADD COLUMN proof TEXT CHECK (proof IS NULL OR proof = 'certain' OR\n"
    "    proof = 'caused' OR proof = 'unproven' OR proof = 'impossible');\n"
    "ALTER TABLE finding ADD COLUMN proof_tries INTEGER NOT NULL DEFAULT 0;\n"
    // What causes it: a call, its error, the function that makes it, and what comes of it.
    "ALTER TABLE finding ADD COLUMN proof_trial INTEGER;\n"
    "ALTER TABLE finding ADD COLUMN proof_call TEXT;\n"
    "ALTER TABLE finding ADD COLUMN proof_error TEXT;\n"
    "ALTER TABLE finding ADD COLUMN proof_caller TEXT;\n"
    "ALTER TABLE finding ADD COLUMN proof_result TEXT;\n"
    "ALTER TABLE finding ADD COLUMN proof_lasting INTEGER NOT NULL DEFAULT 0;\n";

// Findings of system libraries; what a packed file, archive, image or database holds; why a finding
// breaks.
static const char consequences[] =
    "ALTER TABLE finding ADD COLUMN library TEXT;\n"
    "ALTER TABLE artifact ADD COLUMN format TEXT;\n" // NULL: none, or it could not be read
    "ALTER TABLE artifact ADD COLUMN decoded INTEGER NOT NULL DEFAULT 0;\n"
    "ALTER TABLE artifact ADD COLUMN inside INTEGER NOT NULL DEFAULT 0;\n"
    "CREATE TABLE consequence (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  finding INTEGER NOT NULL REFERENCES finding ON DELETE CASCADE,\n"
    "  kind TEXT NOT NULL CHECK (kind = 'fails' OR\n"
    "    kind = 'unwritten' OR\n"
    "    kind = 'tested' OR\n"
    "    kind = 'tested-late' OR\n"
    "    kind = 'tested-sometimes' OR\n"
    "    kind = 'errno-only' OR\n"
    "    kind = 'compared' OR\n"
    "    kind = 'untested' OR\n"
    "    kind = 'ignored' OR\n"
    "    kind = 'returned' OR\n"
    "    kind = 'stored' OR\n"
    "    kind = 'passed' OR\n"
    "    kind = 'read-back' OR\n"
    "    kind = 'reads' OR\n"
    "    kind = 'writes' OR\n"
    "    kind = 'accesses' OR\n"
    "    kind = 'jumps' OR\n"
    "    kind = 'dies' OR\n"
    "    kind = 'heap' OR\n"
    "    kind = 'aborts' OR\n"
    "    kind = 'waits' OR\n"
    "    kind = 'busy' OR\n"
    "    kind = 'lost' OR\n"
    "    kind = 'empties' OR\n"
    "    kind = 'lacks' OR\n"
    "    kind = 'differs' OR\n"
    "    kind = 'leaves' OR\n"
    "    kind = 'succeeds'),\n"
    "  probable INTEGER NOT NULL CHECK (probable IN (0, 1)),\n"
    "  function TEXT,\n"
    "  name TEXT,\n"
    "  argument INTEGER,\n"
    "  number INTEGER NOT NULL,\n"
    "  module TEXT,\n"
    "  offset INTEGER NOT NULL,\n"
    "  symbol TEXT,\n"
    "  start INTEGER NOT NULL,\n"
    "  file TEXT,\n"
    "  line INTEGER\n"
    ");\n"
    "CREATE INDEX consequence_finding ON consequence (finding);\n";

// Findings that another one stands for.
static const char parts[] = "ALTER TABLE finding ADD COLUMN part_of INTEGER;\n";

// How invocations with an activated fault behave.
static const char invocations[] =
    "CREATE TABLE invocation (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  trial INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,\n"
    "  number INTEGER NOT NULL,\n"    // within the trial, from 1
    "  differing INTEGER NOT NULL,\n" // calls; 0: it behaves as the reference
    "  same_status INTEGER NOT NULL CHECK (same_status IN (0, 1)),\n"
    "  same_time INTEGER NOT NULL CHECK (same_time IN (0, 1)),\n"
    "  call TEXT,\n"  // the first that differs
    "  about TEXT,\n" // how it does
    "  trace BLOB\n"  // packed
    ");\n"
    "CREATE INDEX invocation_trial ON invocation (trial);\n";

// Whose code the fault of a finding was injected into (NULL: nobody asked), and where settings came
// from besides the command line and its file.
static const char scopes[] = "ALTER TABLE finding ADD COLUMN scope TEXT CHECK (scope IS NULL OR\n"
                             "    scope = 'mine' OR scope = 'tool');\n"
                             "ALTER TABLE campaign ADD COLUMN settings TEXT;\n";

// Faults that are drawn uniformly over a run, and how soon programs crash after a fault.
static const char drawn[] = "CREATE TABLE upsets (\n"
                            "  id INTEGER PRIMARY KEY,\n"
                            "  campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,\n"
                            "  points INTEGER NOT NULL,\n"
                            "  instructions INTEGER NOT NULL,\n"
                            "  bits INTEGER NOT NULL,\n"
                            "  unread INTEGER NOT NULL,\n"
                            "  classes INTEGER NOT NULL,\n"
                            "  all_classes INTEGER NOT NULL,\n"
                            "  read REAL NOT NULL\n"
                            ");\n"
                            "CREATE INDEX upsets_campaign ON upsets (campaign);\n"
                            "CREATE TABLE latency (\n"
                            "  id INTEGER PRIMARY KEY,\n"
                            "  trial INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,\n"
                            "  seconds REAL NOT NULL\n" // from activation to crash
                            ");\n"
                            "CREATE INDEX latency_trial ON latency (trial);\n";

// How what a library gave its user differs in a trial from the reference.
static const char propagations[] =
    "CREATE TABLE propagation (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  trial INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,\n"
    "  outcome TEXT NOT NULL CHECK (outcome = 'same' OR outcome = 'differs' OR\n"
    "    outcome = 'diverged'),\n"
    "  call INTEGER NOT NULL,\n" // of the library, from 1: the first that differs
    "  function TEXT,\n"
    "  corrupted INTEGER NOT NULL,\n" // bytes, each once
    "  wrong INTEGER NOT NULL,\n"     // bytes of stores
    "  omitted INTEGER NOT NULL,\n"
    "  spurious INTEGER NOT NULL,\n"
    "  result TEXT CHECK (result IS NULL OR result = 'minus-one' OR result = 'null' OR\n"
    "    result = 'zero' OR result = 'wrong-pointer' OR result = 'wrong-value'),\n"
    "  profile TEXT\n"
    ");\n"
    "CREATE INDEX propagation_trial ON propagation (trial);\n";

// Which calls of an invocation differ, and how long it took.
static const char differing[] = "ALTER TABLE invocation ADD COLUMN calls TEXT;\n"
                                "ALTER TABLE invocation ADD COLUMN seconds REAL;\n";

const char *const schema_steps[] = {
    tables, views,        stopped_by, measured,    ways,   facts, safety,       deliberate,
    proofs, consequences, parts,      invocations, scopes, drawn, propagations, differing};
const int schema_version = sizeof schema_steps / sizeof *schema_steps;
