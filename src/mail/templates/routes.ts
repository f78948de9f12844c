/** Endpoints of saved templates. */
import { refuseRestricted, requirePermissions } from '../../platform/http/callers.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
import {
  type BothPlanesSpec,
  bothPlanes,
  type ProjectCaller,
  Reply,
  type RequestContext,
  type Route,
} from '../../platform/http/routes.ts';
import { type TSchema, t } from '../../platform/http/schema.ts';
import {
  BODY_FIELDS,
  newTemplate,
  SUMMARY_FIELDS,
  templateCategories,
  templateChanges,
  templatePreview,
  templateRecord,
  templateSummaries,
} from './schemas.ts';
import type { TemplateRecord, Templates } from './service.ts';

const TAG = 'Email templates';
const ONE = '/emails/templates/:slug';

interface Target {
  ctx: RequestContext;
  caller: ProjectCaller;
}

/** Of a key; whoever manages the project may do so with its marketing too. */
function requireMarketing(caller: ProjectCaller): void {
  if (!caller.key) return;
  requirePermissions(caller.key, ['email_marketing']);
  refuseRestricted(caller.key);
}

/** On both planes, below a path of its own on that of management. */
function templateRoute<Q extends TSchema, B extends TSchema, R>(
  spec: BothPlanesSpec<Q, B, R>,
): [Route, Route] {
  const path = spec.path.replace('/emails/templates', '/email-templates');
  return bothPlanes<Q, B, R>({ ...spec, mirror: { ...spec.mirror, path } });
}

export function templateRoutes(templates: Templates): Route[] {
  const load = ({ ctx, caller }: Target) => templates.get(caller.project.id, ctx.params.slug ?? '');
  return [...templateRecordRoutes(templates, load), ...previewRoute(templates, load)];
}

function templateRecordRoutes(templates: Templates, load: (target: Target) => TemplateRecord): Route[] {
  const authorizeBody = ({
    caller,
    sent,
  }: {
    caller: ProjectCaller;
    sent: Readonly<Record<string, unknown>>;
  }) => {
    if (sent.is_marketing === true) requireMarketing(caller);
  };
  const changing = { needs: ['write', 'email_template'] } as const;
  return recordRoutes(templateRoute, {
    path: ONE,
    tag: TAG,
    needs: ['read'],
    shown: templateRecord,
    load,
    // A marketing template is changed and deleted only by those who may make one.
    loadToChange(target) {
      const template = load(target);
      if (template.is_marketing) requireMarketing(target.caller);
      return template;
    },
    together: BODY_FIELDS,
    errorsIn: ({ caller, current, body }) => templates.errorsIn(caller.project.id, current, body),
    list: {
      mirror: { response: templateSummaries, beside: { categories: templateCategories } },
      summary: 'List templates',
      description:
        'All of the project, newest first, without their bodies; and the valid categories. The words of one broadcast or step ' +
        '(`is_own`) are among them `with_own` alone.',
      query: t.Object({ with_own: t.Optional(t.Boolean()) }),
      response: t.Object({ success: t.Boolean(), data: templateSummaries, categories: templateCategories }),
      handle: ({ caller, query: { with_own = false } }) => {
        const data = templates.list(caller.project.id, { with_own });
        const beside = { categories: SUMMARY_FIELDS.category.shape.enum };
        return caller.key ? { success: true, data, ...beside } : new Reply(200, data, {}, beside);
      },
    },
    create: {
      ...changing,
      summary: 'Create a template',
      description: 'A marketing template (`is_marketing`) also needs `can_manage_email_marketing`.',
      body: newTemplate,
      example: {
        name: 'Order shipped',
        category: 'transactional',
        subject: 'Order {{ order_id }} is on its way',
        body_text: 'Hello {{ name }}, your order is on its way.',
        variables: [{ name: 'order_id', required: true }, { name: 'name' }],
      },
      authorizeBody,
      handle: ({ caller, body }) => templates.create(caller.project.id, body, caller.note),
    },
    read: { summary: 'One template with its bodies' },
    change: {
      ...changing,
      summary: 'Change a template',
      description:
        'Only what is sent changes; null clears an optional field, and one of the bodies must remain. `body_markdown` makes ' +
        'both bodies anew; a body that is sent, or null, ends the Markdown and leaves the other as it is. A slug in the ' +
        'body is ignored: it never changes. A marketing template also needs `can_manage_email_marketing`.',
      body: templateChanges,
      example: { subject: 'Your order {{ order_id }} is on its way' },
      authorizeBody,
      handle: ({ caller, body, resource }) =>
        templates.update(caller.project.id, resource.slug, body, caller.note),
    },
    remove: {
      ...changing,
      summary: 'Delete a template',
      description: 'Its slug is free again. Mails that were accepted are sent all the same.',
      response: t.Object({ success: t.Boolean(), message: t.String() }),
      handle: async ({ caller, resource }) => {
        await templates.remove(caller.project.id, resource.slug, caller.note);
        return { success: true, message: 'Template deleted.' };
      },
    },
  });
}

function previewRoute(templates: Templates, load: (target: Target) => TemplateRecord): Route[] {
  return templateRoute({
    method: 'POST',
    path: `${ONE}/preview`,
    may_take_long: true,
    only_reads: true,
    needs: ['read'],
    tag: TAG,
    summary: 'Render a template without sending it',
    description:
      'What a send with these variables would hold, inactive and marketing templates too, the latter in their ' +
      'layout. `missing` and `invalid` name what a send would be refused for; in its place stands the placeholder itself. ' +
      '`changes` are shown as if they were saved.',
    body: t.Object({
      variables: t.Optional(t.Record(t.String(), t.Unknown())),
      changes: t.Optional(templateChanges),
    }),
    example: { variables: { order_id: '1001', name: 'Ann' } },
    response: templatePreview,
    load,
    handle: ({ caller, body, resource }) =>
      templates.preview(caller.project.id, resource.slug, body.variables ?? {}, body.changes),
  });
}
