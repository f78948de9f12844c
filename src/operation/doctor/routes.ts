/** The management plane's endpoint of what `satchel doctor` finds. */
import { MINUTE_MS, SECOND_MS, toIso } from '../../platform/host/clock.ts';
import { ADMINISTER } from '../../platform/http/callers.ts';
import { pageQuery, paginateAll } from '../../platform/http/pagination.ts';
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { dateTime, t } from '../../platform/http/schema.ts';
import { sameHash } from '../../platform/secrets/token-format.ts';
import { type Doctor, finding } from './service.ts';

/** How old findings may be where they need not be new. */
const MAX_FINDINGS_AGE_S = 3_600;

/** Further pages tell of the examination that the first one was answered by, of so long ago at most. */
const PAGED_WITHIN_MS = 5 * MINUTE_MS;

/** The worst first, so that the first one tells how bad it is. */
const BADNESS = ['problem', 'warning', 'ok'];

export function doctorRoutes(doctor: Doctor): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/findings',
      needs: [ADMINISTER],
      takesVerb: (authorization) => authorization !== null && sameHash(authorization, `Bearer ${doctor.key}`),
      tag: 'Overview',
      summary: 'What is wrong, and what mends it',
      description:
        'What `satchel doctor` finds, the worst first, those that are fine included; a remedy is a command. Everything is looked at for ' +
        'each first page, the DNS too, which takes seconds where much is stored, unless `max_age_seconds` says that findings of so long ago ' +
        'will do: those are told at once, and what reads all that is stored (`database`, `objects`) was looked at within a day. ' +
        'Further pages are of the same examination; `looked_at` says when it began. `deep` looks for each object in the object store too.',
      query: t.Object({
        ...pageQuery,
        max_age_seconds: t.Optional(t.Integer({ minimum: 0, maximum: MAX_FINDINGS_AGE_S })),
        deep: t.Optional(t.Boolean()),
      }),
      response: t.Array(finding),
      beside: { looked_at: dateTime() },
      async handle({ ctx, query }) {
        ctx.keepOpen();
        const asked_ms = (query.max_age_seconds ?? 0) * SECOND_MS;
        const is_further = (query.page ?? 1) > 1;
        const { findings, at_ms } = await doctor.look({
          max_age_ms: is_further ? Math.max(asked_ms, PAGED_WITHIN_MS) : asked_ms,
          is_deep: query.deep === true && !is_further,
        });
        const badness = (of: { status: string }): number => BADNESS.indexOf(of.status);
        const worst_first = findings.toSorted((a, b) => badness(a) - badness(b));
        const shown = worst_first.map((each) => ({
          ...each,
          acts: each.acts ?? [],
          about: each.about ?? null,
        }));
        return paginateAll(query, shown).with({ looked_at: toIso(at_ms) });
      },
    }),
  ];
}
