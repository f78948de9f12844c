/** Verbs that sequences and broadcasts share: copy, check, and the changes of their status. */
import { type Cli, type CliResult, EXIT } from '../platform/cli/cli.ts';
import { namedVerbs } from '../platform/cli/verb.ts';
import type { Note } from '../platform/database/audit-trail.ts';
import type { Actor } from '../platform/http/callers.ts';
import type { Naming } from '../platform/words/phrases.ts';
import { explainProblem, type Problem } from './campaign-readiness.ts';
import { type MarketingServices, noteSecond } from './cli-services.ts';
import type { KeyOwner } from './settings/service.ts';

const ID = '01J00000000000000000000000';

interface Campaigns<One> {
  get(project_id: number, public_id: string): One;
  copy(project_id: number, public_id: string, note: Note): Promise<One>;
}

/** `of` says where the services have what the verbs are about. */
export function campaignVerbs<
  W extends 'sequence' | 'broadcast',
  S extends MarketingServices,
  One extends { id: string; name: string },
>(cli: Cli<S>, what: W, of: (services: S) => Campaigns<One>) {
  const { all, one } = namedVerbs(cli.noun(what), (services: S): Naming => services[`${what}_names`]);
  type Session = { services: S; project: KeyOwner; id: string; actor: Actor };
  const recordOf = ({ services, project, id }: Session): One => of(services).get(project.id, id);
  return {
    all,
    one,
    recordOf,

    copy(says: string): void {
      one('copy', says)
        .example(`satchel ${what} copy ${ID}`)
        .shows(
          ({ services, project, id, trail }) => of(services).copy(project.id, id, trail),
          ({ id, name }, session) => {
            noteSecond(session, what, name);
            return `The draft ${name} is made: ${id}`;
          },
        );
    },

    /** A verb that changes a status. `consent` says what it destroys, if anything; `tell` says what the status then is. */
    transition(
      name: string,
      says: string,
      verb: {
        run(services: S, actor: Actor, owner: KeyOwner, id: string): Promise<void>;
        consent?(record: One): string;
        tell(record: One): string;
      },
    ): void {
      const made = one(name, says).example(`satchel ${what} ${name} ${ID}${verb.consent ? ' --yes' : ''}`);
      const change = async (session: Session): Promise<CliResult> => {
        await verb.run(session.services, session.actor, session.project, session.id);
        const record = recordOf(session);
        return { json: record, text: `The ${what} ${record.name} is ${verb.tell(record)}` };
      };
      if (verb.consent === undefined) made.does(change);
      else
        made.removes((session) => {
          session.consent(verb.consent?.(recordOf(session)) ?? '');
          return change(session);
        });
    },
  };
}

/** Tells what a check found, with lines of its own behind its problems. */
export function checkResult(
  found: { ready: boolean; captured: boolean; problems: readonly Problem[] },
  more: readonly string[] = [],
): CliResult {
  const lines = [...(found.ready ? ['It is ready.'] : found.problems.map(explainProblem)), ...more];
  if (found.captured) lines.push('All mailboxes of its marketing capture: nobody gets its mail.');
  return { json: found, text: lines.join('\n'), exit: found.ready ? EXIT.done : EXIT.refused };
}
