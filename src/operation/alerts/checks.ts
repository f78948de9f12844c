/** What doctor asks of alerts: whether they arrive, and whether there is a backup, of which otherwise nobody would hear. */
import type { Projects } from '../../access/projects/service.ts';
import { type Clock, DAY_MS, toIso } from '../../platform/host/clock.ts';
import {
  act,
  aside,
  type HealthCheck,
  ok,
  problem,
  sealedCheck,
  warning,
} from '../../platform/host/health-check.ts';
import { readHistory } from '../backups/history.ts';
import { ALERTS } from './known.ts';
import type { Alerts } from './service.ts';

const OVERDUE = 'backup_overdue';
const WARN_AFTER_MS = 2 * DAY_MS;
const OVERDUE_MS = 7 * DAY_MS;

interface On {
  alerts: Alerts;
  projects: Pick<Projects, 'listAll'>;
  clock: Clock;
  config: { data_dir: string };
}

/** Whether alerts arrive. */
export function arrivalCheck({ alerts }: Pick<On, 'alerts'>): HealthCheck {
  return {
    check: ALERTS,
    run() {
      const failing = alerts.listFailing().map(({ way, words }) => {
        const message = `Alerts to ${alerts.nameOf(way)} do not arrive: ${words}`;
        return { ...aside(way, problem(ALERTS, message, 'satchel alert test')), about: ABOUT };
      });
      if (failing.length > 0) return failing;
      const names = alerts.listWays().map((way) => alerts.nameOf(way));
      return names.length > 0
        ? [ok(ALERTS, `Problems are told to ${names.join(', ')}.`)]
        : [ok(ALERTS, 'Nobody is told of problems.', 'satchel alert set --email YOUR-ADDRESS')];
    },
  };
}

const ABOUT = { code: 'alerts', ref: null };

export function alertChecks(on: On): HealthCheck[] {
  const lost = {
    message: 'The URL of alerts does not decrypt: nothing is told to it.',
    remedy: 'satchel alert set --url -',
    about: ABOUT,
  };
  return [
    arrivalCheck(on),
    { check: OVERDUE, run: () => checkOverdue(on) },
    sealedCheck(() => (on.alerts.hasLostUrl() ? [lost] : [])),
  ];
}

/** Where there is nothing to lose, or somebody else sees to it, none is missed. */
function checkOverdue({ alerts, projects, clock, config }: On): ReturnType<HealthCheck['run']> {
  const first = projects.listAll({}).reduce((least, { created_at }) => Math.min(least, created_at), Infinity);
  if (!alerts.show().backups_here || first === Infinity) return [];
  const { made_ms, verified_ms } = readHistory(config.data_dir);
  const last = Math.max(made_ms ?? 0, verified_ms ?? 0);
  const age_ms = clock.now() - (last || first);
  if (age_ms < WARN_AFTER_MS) return [];
  const days = Math.floor(age_ms / DAY_MS);
  const message =
    last === 0
      ? `No backup was ever made or verified here, and there are projects since ${toIso(first)}.`
      : `The last backup that was made or verified here is of ${toIso(last)}, ${days} days ago.`;
  const remedy =
    'satchel backup schedule --at 03:30; or, where somebody else keeps them, satchel alert set --no-backups-here';
  const tell = age_ms < OVERDUE_MS ? warning : problem;
  return [tell(OVERDUE, message, remedy, [act('make_backup')])];
}
