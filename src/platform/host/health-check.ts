/** What a health check found: the common form in which every capability reports to `satchel doctor`. */

/** `warning`: works, but somebody should look. `problem`: something is broken, or about to be. */
export type FindingStatus = 'ok' | 'warning' | 'problem';

export interface Finding {
  /** What was looked at, such as `disk space`. */
  check: string;
  status: FindingStatus;
  message: string;
  /** The command that mends it, or null where nothing needs mending. */
  remedy: string | null;
}

/** Looks at one thing and changes nothing. What it throws becomes a problem of its own. */
export interface HealthCheck {
  check: string;
  run(): Finding[] | Promise<Finding[]>;
}
