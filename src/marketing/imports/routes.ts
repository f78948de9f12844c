/** Endpoints of contact imports. */
import { type FieldErrors, refuseAll } from '../../errors.ts';
import { CSV_ANSWER, csvResponse } from '../../platform/http/csv.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { type ProjectCaller, Reply, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import type { Lists } from '../lists/service.ts';
import { marketingRoute } from '../marketing-route.ts';
import { fatesOf, recogniseFields } from './headers.ts';
import { body, columnFate, headersBody, record } from './schemas.ts';
import type { Imports } from './service.ts';

const TAG = 'Imports';

interface Target {
  ctx: RequestContext;
  caller: ProjectCaller;
}

export function importRoutes(services: { imports: Imports; lists: Lists }): Route[] {
  return [...routesOfList(services), ...routesOfImport(services)];
}

function routesOfList({ imports, lists }: { imports: Imports; lists: Lists }): Route[] {
  const loadList = ({ ctx, caller }: Target) => lists.require(caller.project.id, ctx.params.list ?? '');
  return [
    ...marketingRoute({
      method: 'GET',
      path: '/email-lists/:list/imports',
      tag: TAG,
      summary: 'Imports of a list, newest first',
      query: t.Object(pageQuery),
      response: record,
      load: loadList,
      handle: ({ resource, query }) => imports.list(resource, query),
    }),
    ...marketingRoute({
      method: 'POST',
      path: '/email-lists/:list/imports',
      may_take_long: true,
      tag: TAG,
      summary: 'Import contacts from a paste or a CSV file',
      description:
        'A paste ends within the request, as does a file of up to 500 rows (201); a longer file is imported in the ' +
        'background (202) and polled at `/email-imports/{import}`: by an API key at `rows_per_minute` (500 unless the operator ' +
        'says otherwise), by a person or a token as fast as it can beside others. Rows whose domain the DNS says nothing about wait: ' +
        'the import is `processing` until they are decided.',
      status: 201,
      also: { 202: 'Imported in the background', 409: 'The list is archived (`list_archived`)' },
      body,
      example: {
        method: 'paste',
        text: 'Ann Smith <ann@example.com>',
        defaults: { consent_basis: 'consent' },
      },
      response: record,
      load: loadList,
      errorsIn: ({ body: sent }) => errorsInSource(sent),
      handle: async ({ caller, resource: list, body: { method, text: pasted, object, ...sent } }) => {
        refuseAll(errorsInSource({ method, text: pasted, object }));
        const { project, key, note } = caller;
        const by = { is_paced: key !== null, is_test: key?.is_test ?? false, note };
        if (method === 'paste')
          return imports.paste(project, list, { text: pasted ?? '', defaults: sent.defaults }, by);
        const wanted = { ...sent, object: object ?? '' };
        const { record: started, is_done } = await imports.csv(project, list, wanted, by);
        return new Reply(is_done ? 201 : 202, started);
      },
    }),
    ...marketingRoute({
      method: 'POST',
      path: '/email-lists/:list/imports/columns',
      may_take_long: true,
      tag: TAG,
      summary: 'What columns with these headers become',
      description:
        'As an import without `column_map` and `keep_columns` takes them: headers of fields are recognised in English, German, French ' +
        'and Spanish, any other column becomes a custom field under its header, but where it has none (`no_name`) or one past 100 ' +
        'characters (`name_too_long`), where a column before it has the same (`repeated`), past 50 (`too_many`), and where it tells of a ' +
        'contact or a rejected row as we exported it (`ours`). Several columns may be a `status`. Nothing is imported.',
      body: headersBody,
      example: { headers: ['E-Mail', 'Vorname', 'Tarif'] },
      response: t.Array(columnFate),
      load: loadList,
      handle: ({ body: { headers } }) => fatesOf(headers, recogniseFields(headers)),
    }),
  ];
}

function routesOfImport({ imports }: { imports: Imports }): Route[] {
  const load = ({ ctx, caller }: Target) => imports.get(caller.project.id, ctx.params.import ?? '');
  return [
    ...marketingRoute({
      method: 'GET',
      path: '/email-imports/:import',
      tag: TAG,
      summary: 'How an import stands',
      response: record,
      load,
      handle: ({ resource }) => resource,
    }),
    ...marketingRoute({
      method: 'GET',
      path: '/email-imports/:import/rejected',
      tag: TAG,
      summary: 'The rows that were not taken, as CSV',
      description:
        'Columns row_number, email and reason, then the other columns of the CSV file as they were, while its object is there; the ' +
        'header of the file is row 1. Duplicates are left out, and who was forgotten. What a spreadsheet would take for a formula is ' +
        'prefixed with an apostrophe. Edited, it is imported as the file that it came from.',
      ...CSV_ANSWER,
      load,
      handle: async ({ caller, resource: { id } }) =>
        csvResponse(`rejected-${id}.csv`, await imports.rejected(caller.project.id, id)),
    }),
    ...marketingRoute({
      method: 'POST',
      path: '/email-imports/:import/resume',
      tag: TAG,
      summary: 'Go on with a failed CSV import',
      description: 'It goes on behind the last row that was done. 409 for any other import.',
      response: record,
      load,
      handle: ({ caller, resource }) => imports.resume(caller.project.id, resource.id, caller.note),
    }),
    ...marketingRoute({
      method: 'POST',
      path: '/email-imports/:import/cancel',
      tag: TAG,
      summary: 'End an import for good',
      description:
        'Who is on the list by then stays there. It is `cancelled` and does not go on. 409 for one that has ended.',
      also: { 409: 'It has ended' },
      response: record,
      load,
      handle: ({ caller, resource }) => imports.cancel(caller.project.id, resource.id, caller.note),
    }),
  ];
}

/** What an import is of must be there. */
function errorsInSource(sent: {
  method?: string;
  text?: string | null | undefined;
  object?: string | null | undefined;
}): FieldErrors {
  if (sent.method === 'paste' && !sent.text) return { text: ['is required for a paste'] };
  return sent.method === 'csv' && !sent.object ? { object: ['is required for a CSV file'] } : {};
}
