/** A page on which a mail is written: of a template, a broadcast or a step, which differ in what they are and not in how they are written. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Template } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { mayWrite } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { PageHeader } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { type Load, useLoad } from '../../use-load.ts';
import { TestDialog } from '../marketing/test-dialog.tsx';
import { Conflict } from './conflict.tsx';
import { Editor } from './editor.tsx';
import { type MailKind, type Reader, requestOf } from './mail.ts';
import { STARTER } from './own-words.ts';
import { ReaderView } from './reader-view.tsx';
import { StartFrom } from './start-from.tsx';
import { type Place, type Standing, useWords, type Writing } from './use-words.ts';
import type { Version } from './words.ts';

interface WritingPageProps {
  title: string;
  back: { href: string; label: string };
  beside?: ComponentChildren;
  lead?: ComponentChildren;
  /** Its own acts, beside those that all have. */
  actions?: (writing: Writing) => ComponentChildren;
  place: Place;
  /** Null where nothing is written yet. */
  loaded: Version | null;
  kind(version: Version | null): MailKind;
  /** Below the editor. */
  children?: (writing: Writing) => ComponentChildren;
}

export function WritingPage(props: WritingPageProps) {
  const { title, back, beside, lead, actions, place, loaded, kind: kindOf, children } = props;
  const writing = useWords(place, loaded, STARTER);
  const [words, version, standing] = [writing.words.value, writing.version.value, writing.standing.value];
  const is_unpublished = writing.is_unpublished.value;
  const [is_testing, setTesting] = useState(false);
  const [reader, setReader] = useState<Reader>({ contact: null, samples: {} });
  const kind = kindOf(version);
  const publish = async (): Promise<void> => {
    if (await writing.publish()) toast('Published: the next mail has it');
  };
  useKeys({ save: () => void writing.save(), test: () => setTesting(true) });
  return (
    <>
      <PageHeader
        title={title}
        back={back}
        beside={
          <>
            {beside}
            <SavedWord of={standing} is_live={place.is_live && is_unpublished} />
          </>
        }
        lead={lead}
        actions={
          <>
            {is_unpublished && <ActionButton act={writing.discard}>Give up the draft</ActionButton>}
            {mayWrite() && (
              <button type="button" class="button" onClick={() => setTesting(true)}>
                Send a test
              </button>
            )}
            {is_unpublished && (
              <ActionButton act={publish} kind="primary">
                Publish
              </ActionButton>
            )}
            {actions?.(writing)}
          </>
        }
      />
      <div class="stack">
        {standing.is === 'outdated' && version && (
          <Conflict
            project={place.project}
            slug={version.template.slug}
            error={standing.error}
            writing={writing}
            preheader={place.preheader}
          />
        )}
        {mayWrite() ? (
          <>
            <Editor
              key={writing.turn.value}
              kind={kind}
              words={words}
              onChange={writing.change}
              reader={reader}
              onReader={setReader}
              actions={place.campaign && <StartFrom project={place.project} writing={writing} />}
            />
            {children?.(writing)}
          </>
        ) : (
          <ReaderView words={words} kind={kind} reader={reader} onReader={setReader} />
        )}
      </div>
      {is_testing && mayWrite() && (
        <TestDialog
          project={place.project}
          title="Send a test"
          send={(to) =>
            call('POST /projects/{project}/email-templates/test', {
              path: { project: place.project },
              body: { ...requestOf(words, kind, reader), to },
            })
          }
          onClose={() => setTesting(false)}
        >
          As you see it here, marked as a test in its subject. It goes out at once, and nothing of it counts.
        </TestDialog>
      )}
    </>
  );
}

/** Ctrl (or ⌘) with S saves at once, with Enter sends a test. */
function useKeys({ save, test }: { save(): void; test(): void }): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || document.querySelector('dialog[open]')) return;
      const act = new Map([
        ['s', save],
        ['Enter', test],
      ]).get(event.key);
      if (!act) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    };
    addEventListener('keydown', press, true);
    return () => removeEventListener('keydown', press, true);
  });
}

/** Says whether what is written is saved: one word in the header, and why where it is not. */
function SavedWord({ of, is_live }: { of: Standing; is_live: boolean }) {
  if (of.is === 'failed')
    return (
      <span class="saved-word bad" role="alert">
        <Icon name="warning" size={14} />
        Not saved: {of.why.replace(/\.$/, '')}. It is kept here
        {of.is_passing ? ', and tried again by itself.' : ' until that is mended.'}
      </span>
    );
  if (of.is === 'outdated')
    return <span class="saved-word bad">Not saved: somebody else has changed it. It is kept here.</span>;
  return (
    <span class="saved-word muted">
      {of.is === 'saved' ? (
        <>
          <Icon name="check" size={14} />
          {is_live ? 'Draft saved' : 'Saved'}
        </>
      ) : (
        'Saving…'
      )}
    </span>
  );
}

type Read = { is_there: false; load: Load<Template> } | { is_there: true; version: Version | null };

/** `slug` is null where there is none yet; one that is gone is none either. */
export function useVersion(project: string, slug: string | null): Read {
  const load = useLoad(
    'GET /projects/{project}/email-templates/{slug}',
    slug === null ? null : { path: { project, slug } },
  );
  if (slug === null || load.error?.status === 404) return { is_there: true, version: null };
  if (!load.data) return { is_there: false, load };
  return { is_there: true, version: { template: load.data, etag: load.etag } };
}
