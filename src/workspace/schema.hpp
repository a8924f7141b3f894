#pragma once

namespace bench::workspace {

/// Raised by one with every change to the tables, which raises the version of bench, too; a
/// database with another one is refused.
constexpr int schema_version = 8;

/// The tables of a run. docs/reference/workspace.md describes them for those who query them.
constexpr const char* schema = R"sql(
CREATE TABLE fact (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE workpackage (
  id INTEGER PRIMARY KEY,
  step TEXT NOT NULL,
  iteration INTEGER NOT NULL,
  combination INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state = 'ready' OR state = 'running' OR state = 'submitted'
    OR state = 'waiting' OR state = 'done' OR state = 'failed' OR state = 'skipped'),  -- IN would build a table each time
  prepared INTEGER NOT NULL DEFAULT 0,
  cycle INTEGER NOT NULL DEFAULT 0,
  command INTEGER NOT NULL DEFAULT 0,
  expanded INTEGER NOT NULL DEFAULT 0,
  expanded_ahead INTEGER NOT NULL DEFAULT 0,
  parameters TEXT NOT NULL CHECK (json_valid(parameters)),
  directory TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  attempts INTEGER NOT NULL DEFAULT 0,
  retries INTEGER NOT NULL DEFAULT 0,
  timeouts INTEGER NOT NULL DEFAULT 0,
  times_lost INTEGER NOT NULL DEFAULT 0,
  environment TEXT CHECK (environment IS NULL OR json_valid(environment))
) STRICT;
CREATE INDEX workpackage_by_step ON workpackage (step, state);

CREATE TABLE parent (
  workpackage INTEGER NOT NULL REFERENCES workpackage (id),
  parent INTEGER NOT NULL REFERENCES workpackage (id),
  PRIMARY KEY (workpackage, parent)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt (
  workpackage INTEGER NOT NULL REFERENCES workpackage (id),
  number INTEGER NOT NULL,
  uuid TEXT NOT NULL UNIQUE,
  host TEXT NOT NULL,
  job_id TEXT NOT NULL DEFAULT '',
  submission TEXT NOT NULL DEFAULT '',
  task INTEGER,
  waits_for TEXT NOT NULL DEFAULT '',
  claimed_unix_s REAL NOT NULL,
  started_unix_s REAL,
  ended_unix_s REAL,
  exit_code INTEGER,
  outcome TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workpackage, number)
) STRICT, WITHOUT ROWID;

-- What is found is mostly a number, and there may be millions: names and units stand here once.
CREATE TABLE found_name (
  id INTEGER PRIMARY KEY,
  analyser TEXT NOT NULL,
  name TEXT NOT NULL,
  unit TEXT NOT NULL,
  UNIQUE (analyser, name, unit)
) STRICT;

-- By name first, as results ask for it: some columns of all workpackages.
CREATE TABLE found_value (
  name INTEGER NOT NULL REFERENCES found_name (id),
  workpackage INTEGER NOT NULL REFERENCES workpackage (id),
  value ANY,
  estimated INTEGER NOT NULL DEFAULT 0,
  absent_reason TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (name, workpackage)
) STRICT, WITHOUT ROWID;

CREATE VIEW finding AS
SELECT n.analyser, v.workpackage, n.name, v.value, n.unit, v.estimated, v.absent_reason
FROM found_name AS n JOIN found_value AS v ON v.name = n.id;

CREATE TABLE analysis (
  analyser TEXT PRIMARY KEY,
  ended_workpackages INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per analysed workpackage: what was asked, what came of it, and where it ran.
CREATE VIEW results AS
SELECT
  f.analyser,
  w.id AS workpackage,
  w.step,
  w.iteration,
  w.state,
  w.reason,
  w.retries,
  w.parameters,
  json_group_object(f.name, f.value) FILTER (WHERE f.value IS NOT NULL) AS findings,
  json_group_object(f.name, f.absent_reason) FILTER (WHERE f.absent_reason <> '') AS absent,
  max(f.estimated) AS estimated,
  a.host,
  a.job_id,
  a.started_unix_s,
  a.ended_unix_s,
  a.exit_code,
  (SELECT value FROM fact WHERE name = 'input_sha256') AS input_sha256,
  (SELECT value FROM fact WHERE name = 'platform') AS platform,
  (SELECT value FROM fact WHERE name = 'cpu') AS cpu,
  (SELECT value FROM fact WHERE name = 'gpus') AS gpus
FROM finding AS f
JOIN workpackage AS w ON w.id = f.workpackage
LEFT JOIN attempt AS a ON a.workpackage = w.id AND a.number = w.attempts
GROUP BY f.analyser, w.id;
)sql";

}  // namespace bench::workspace
