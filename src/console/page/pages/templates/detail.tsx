/** A template: its words, saved as one types and in mails once published; the fields that it declares; what it is; and its end. */
import type { TemplateChanges } from '../../api.generated.ts';
import { callTelling } from '../../api.ts';
import { Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import type { MailKind } from '../writing/mail.ts';
import type { Writing } from '../writing/use-words.ts';
import type { Version } from '../writing/words.ts';
import { WritingPage } from '../writing/writing-page.tsx';
import { TemplateAbout } from './about.tsx';
import { TemplateStatus } from './list.tsx';
import { TemplateEnd } from './template-end.tsx';
import { VariableFields } from './variable-fields.tsx';

const TEMPLATE = '/projects/{project}/email-templates/{slug}';

export default function TemplatePage({ params }: PageProps<'project' | 'template'>) {
  const path = { project: params.project, slug: params.template };
  const load = useLoad(`GET ${TEMPLATE}`, { path });
  if (!load.data)
    return (
      <>
        <PageHeader title="Template" back={backTo(path)} />
        <Loaded load={load}>{() => null}</Loaded>
      </>
    );
  return <TemplateEditor key={path.slug} path={path} loaded={{ template: load.data, etag: load.etag }} />;
}

const backTo = ({ project }: TemplatePath) => ({
  href: hrefOf(to`/projects/${project}/templates`),
  label: 'Templates',
});

function TemplateEditor({ path, loaded }: { path: TemplatePath; loaded: Version }) {
  const { project, slug } = path;
  const { template } = loaded;
  const kind = (version: Version | null): MailKind => {
    const { is_marketing, layout } = version?.template ?? template;
    return { project, list: null, is_marketing, layout, values: {} };
  };
  return (
    <WritingPage
      title={template.name}
      back={backTo(path)}
      beside={<TemplateStatus of={{ ...template, has_draft: false }} />}
      lead={<code>{slug}</code>}
      actions={() => (
        <a
          class="button"
          href={`${hrefOf(to`/projects/${project}/emails`)}?template=${encodeURIComponent(slug)}`}
        >
          Its mails
        </a>
      )}
      place={{ project, key: `template:${slug}`, is_live: true, preheader: null, campaign: null }}
      loaded={loaded}
      kind={kind}
    >
      {(writing) => (
        <Rest path={path} writing={writing} template={writing.version.value?.template ?? template} />
      )}
    </WritingPage>
  );
}

function Rest(props: { path: TemplatePath; writing: Writing; template: Version['template'] }) {
  const { path, writing, template } = props;
  /** Other changes than of its words hold at once. */
  const change = async (body: TemplateChanges): Promise<Version> => {
    await writing.save();
    const if_match = writing.version.value?.etag ?? null;
    const { answer, etag } = await callTelling(`PATCH ${TEMPLATE}`, { path, body, if_match });
    const version = { template: answer, etag };
    writing.version.value = version;
    return version;
  };
  const archive = async (): Promise<void> => {
    const { is_active } = (await change({ is_active: !template.is_active })).template;
    toast(is_active ? 'It is sent again' : 'It is archived');
  };
  return (
    <>
      <Panel
        title="Fields"
        lead="What each send fills in, as {{ name }} in the texts; they are published with the words. One that is declared may be left out of a send, unless it is required; one that is used only must always have a value."
      >
        <div class="stack">
          <VariableFields words={writing.words.value} onChange={writing.change} />
        </div>
      </Panel>
      <TemplateAbout of={template} onSave={change} />
      <TemplateEnd path={path} template={template} onArchive={archive} />
    </>
  );
}

/** Names a template to the API. */
export interface TemplatePath {
  project: string;
  slug: string;
}
