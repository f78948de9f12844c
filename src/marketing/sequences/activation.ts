/**
 * What must be in place before a sequence is activated: one rule a problem, for /check and for activation.
 */

import type { TemplateFacts } from '../../mail/templates/service.ts';
import {
  type Problem,
  type ReadinessFacts,
  readinessProblems,
  templateProblems,
} from '../campaign-readiness.ts';
import { lackIf } from '../settings/service.ts';
import type { Step, Tracks } from './model.ts';

interface ActivationFacts extends ReadinessFacts {
  steps: readonly Step[];
  tracks: Tracks;
  templateOf(slug: string): TemplateFacts | null;
  matching_contacts: number;
  max_recipients: number;
}

type Rule = (facts: ActivationFacts) => Problem[];

const RULES: readonly Rule[] = [
  readinessProblems,
  ({ steps }) => lackIf(steps.length === 0, 'no_steps', 'The sequence has no steps.'),
  ({ steps, templateOf }) =>
    steps.flatMap(({ key, template }) => templateProblems(template, templateOf(template), key)),
  trackRule,
  ({ steps, tracks }) =>
    steps.flatMap(({ key, otherwise }) =>
      typeof otherwise === 'object' && !tracks.has(otherwise.route_to)
        ? [
            {
              code: 'unknown_track',
              message: `route_to names the track ${otherwise.route_to}, which has no steps.`,
              step: key,
            },
          ]
        : [],
    ),
  ({ matching_contacts, max_recipients }) =>
    lackIf(
      matching_contacts > max_recipients,
      'too_many_recipients',
      `${matching_contacts} contacts match, and max_recipients is ${max_recipients}.`,
    ),
];

/** Everything that keeps a sequence from being activated; empty when it is ready. */
export function findProblems(facts: ActivationFacts): Problem[] {
  return RULES.flatMap((rule) => rule(facts));
}

function trackRule({ tracks }: ActivationFacts): Problem[] {
  return [...tracks].flatMap(([track, steps]): Problem[] => {
    const finals = steps.filter(({ is_final }) => is_final);
    const last = steps.at(-1);
    if (finals.length === 1 && last?.is_final) return [];
    const message =
      finals.length === 0
        ? `The track ${track} has no final step: its last one must be is_final.`
        : `The track ${track} must end in exactly one final step, which is its last.`;
    return [{ code: 'track_end', message, ...(last ? { step: last.key } : {}) }];
  });
}
