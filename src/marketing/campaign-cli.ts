/** Verbs that sequences and broadcasts share: copy, check, and the changes of their status. */
import type { Projects } from '../access/projects/service.ts';
import { type CliResult, EXIT } from '../platform/cli/cli.ts';
import { ownerOf } from '../platform/cli/project-option.ts';
import type { Noun } from '../platform/cli/verb.ts';
import type { Note } from '../platform/database/audit-trail.ts';
import type { Actor } from '../platform/http/callers.ts';
import { secondOfName } from '../platform/http/second-names.ts';
import { isSecond, type Naming } from '../platform/words/naming.ts';
import { explainProblem, type Problem } from './campaign-readiness.ts';
import type { KeyOwner } from './settings/service.ts';

const ID = '01J00000000000000000000000';

/** `of` says where the services have what the verbs are about. */
export function campaignVerbs<S extends { projects: Projects }, One extends { id: string; name: string }>(
  what: 'sequence' | 'broadcast',
  of: (services: S) => {
    campaigns: {
      get(project_id: number, public_id: string): One;
      requireAny(public_id: string): { project_id: number };
      copy(project_id: number, public_id: string, note: Note): Promise<One>;
    };
    names: Naming;
  },
) {
  /** One of whatever project. */
  const recordOf = (services: S, id: string): One => {
    const { campaigns } = of(services);
    return campaigns.get(campaigns.requireAny(id).project_id, id);
  };
  const named = (services: S) => ({ projects: services.projects, ...of(services).names });
  return {
    recordOf,
    named,

    copy(noun: Noun<S>, says: string): void {
      noun
        .verb(`copy <${what}>`, says)
        .named(named)
        .example(`satchel ${what} copy ${ID}`)
        .does(async ({ services, onTrail, note }, _options, id) => {
          const { campaigns, names } = of(services);
          const project = ownerOf(services, campaigns.requireAny(id));
          const record = await campaigns.copy(project.id, id, onTrail(project));
          if (isSecond(names, project.id, record.name)) note(secondOfName(what, record.name));
          return { json: record, text: `The draft ${record.name} is made: ${record.id}` };
        });
    },

    /** A verb that changes a status. `consent` says what it destroys, if anything; `tell` says what the status then is. */
    transition(
      noun: Noun<S>,
      verb: {
        name: string;
        says: string;
        run(services: S, actor: Actor, owner: KeyOwner, id: string): Promise<void>;
        consent?(record: One): string;
        tell(record: One): string;
      },
    ): void {
      const { name, says, consent } = verb;
      const made = noun.verb(`${name} <${what}>`, says).named(named);
      made.example(`satchel ${what} ${name} ${ID}${consent ? ' --yes' : ''}`);
      const change = async (services: S, actor: Actor, id: string): Promise<CliResult> => {
        await verb.run(services, actor, ownerOf(services, of(services).campaigns.requireAny(id)), id);
        const record = recordOf(services, id);
        return { json: record, text: `The ${what} ${record.name} is ${verb.tell(record)}` };
      };
      if (consent === undefined)
        made.does(({ services, actor }, _options, id) => change(services, actor, id));
      else
        made.removes((session, _options, id) => {
          session.consent(consent(recordOf(session.services, id)));
          return change(session.services, session.actor, id);
        });
    },
  };
}

/** What a check found, with lines of its own behind its problems. */
export function checkResult(
  found: { ready: boolean; captured: boolean; problems: readonly Problem[] },
  more: readonly string[] = [],
): CliResult {
  const lines = [...(found.ready ? ['It is ready.'] : found.problems.map(explainProblem)), ...more];
  if (found.captured) lines.push('All mailboxes of its marketing capture: nobody gets its mail.');
  return { json: found, text: lines.join('\n'), exit: found.ready ? EXIT.done : EXIT.refused };
}
