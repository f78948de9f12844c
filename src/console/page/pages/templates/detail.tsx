/** The editor of a template: its texts and fields beside how they look, saved over the version that was read and no other. */

import { useState } from 'preact/hooks';
import type { TemplateChanges } from '../../api.generated.ts';
import { ApiError, callTelling } from '../../api.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { Conflict } from './conflict.tsx';
import { changesOf, draftOf, useDraft, type Version } from './draft.ts';
import { TemplateStatus } from './list.tsx';
import { Preview } from './preview.tsx';
import { TemplateEnd } from './template-end.tsx';
import { TemplateFields } from './template-fields.tsx';
import type { TemplatePath } from './template-path.ts';

const TEMPLATE = '/projects/{project}/email-templates/{slug}';

export default function TemplatePage({ params }: PageProps<'project' | 'template'>) {
  const path = { project: params.project, slug: params.template };
  const load = useLoad(`GET ${TEMPLATE}`, { path });
  const [saved, setSaved] = useState<Version | null>(null);
  const shown = saved?.template ?? load.data;
  return (
    <>
      <PageHeader
        title={shown?.name ?? 'Template'}
        back={{ href: hrefOf(to`/projects/${params.project}/templates`), label: 'Templates' }}
        beside={shown && <TemplateStatus of={shown} />}
        lead={shown && <code>{shown.slug}</code>}
        actions={
          shown && (
            <ButtonLink
              href={`${hrefOf(to`/projects/${params.project}/emails`)}?template=${encodeURIComponent(shown.slug)}`}
            >
              Its mails
            </ButtonLink>
          )
        }
      />
      <Loaded load={load}>
        {(template) => (
          <Editor path={path} loaded={{ template, etag: load.etag }} saved={saved} onSave={setSaved} />
        )}
      </Loaded>
    </>
  );
}

interface EditorProps {
  path: TemplatePath;
  loaded: Version;
  /** By this page, since it was loaded. */
  saved: Version | null;
  onSave(version: Version): void;
}

function Editor({ path, loaded, saved, onSave }: EditorProps) {
  const { draft, base, is_changed, change, rebase, discard } = useDraft(
    `${path.project}/${path.slug}`,
    loaded,
  );
  const [is_kept] = useState(is_changed);
  const [conflict, setConflict] = useState<ApiError | null>(null);
  // The editors own their text: another text is another editor.
  const [turn, setTurn] = useState(0);
  const restart = (version: Version): void => {
    discard(version);
    setConflict(null);
    setTurn(turn + 1);
  };
  const send = async (body: TemplateChanges): Promise<Version | null> => {
    try {
      const { answer: template, etag } = await callTelling(`PATCH ${TEMPLATE}`, {
        path,
        body,
        if_match: base.etag,
      });
      const version = { template, etag };
      rebase(version);
      onSave(version);
      return version;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
      setConflict(error);
      scrollTo(0, 0);
      return null;
    }
  };
  const save = async (): Promise<void> => {
    const version = await send(changesOf(draft, draftOf(base.template)));
    if (version) toast('The template is saved: the next mail has it');
  };
  const archive = async (): Promise<void> => {
    const version = await send({ is_active: !base.template.is_active });
    if (version) toast(version.template.is_active ? 'It is sent again' : 'It is archived');
  };
  return (
    <div class="stack">
      {conflict && (
        <Conflict
          path={path}
          error={conflict}
          draft={draft}
          onKeepMine={(theirs) => {
            rebase(theirs);
            setConflict(null);
            setTurn(turn + 1);
          }}
          onTakeTheirs={restart}
        />
      )}
      {is_kept && is_changed && !conflict && (
        <div class="notice">
          <p>These are your changes from before, which were not saved.</p>
          <p>
            <button type="button" class="button small" onClick={() => restart(saved ?? loaded)}>
              Discard them
            </button>
          </p>
        </div>
      )}
      <div class="editor-columns">
        <Panel>
          <Form is_fleeting submit="Save" onSubmit={save} is_disabled={!is_changed}>
            <TemplateFields key={turn} draft={draft} onChange={change} />
          </Form>
        </Panel>
        <Preview path={path} draft={draft} />
      </div>
      <TemplateEnd path={path} template={base.template} onArchive={archive} />
    </div>
  );
}
