/** The one editor of mails: text at the left, at the right what a reader sees of it as one types. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { call, uploadFile } from '../../api.ts';
import { CodeEditor, type EditorHandle } from '../../components/code-editor.tsx';
import { SelectField } from '../../components/fields.tsx';
import { Panel } from '../../components/page.tsx';
import { Choice } from '../../components/tabs.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import { type Language, MARKS } from './language.ts';
import type { MailKind, Reader } from './mail.ts';
import { useFieldGroups } from './merge-menu.ts';
import { ReaderView } from './reader-view.tsx';
import { Toolbar } from './toolbar.tsx';
import type { Words } from './words.ts';

interface EditorProps {
  kind: MailKind;
  words: Words;
  onChange(changes: Partial<Words>): void;
  reader: Reader;
  onReader(reader: Reader): void;
  /** Beside the heading. */
  actions?: ComponentChildren;
}

const PARTS: Readonly<Record<Language, string>> = { markdown: 'Markdown', html: 'HTML', text: 'Text' };
const BODIES = { markdown: 'body_markdown', html: 'body_html', text: 'body_text' } as const;

export function Editor(props: EditorProps) {
  const { kind, words, onChange, reader, onReader, actions } = props;
  return (
    <div class="editor-columns">
      <Panel title="The words" actions={actions}>
        <div class="form">
          <TextField
            name="subject"
            label="Subject"
            value={words.subject}
            hint={subjectHint(words.subject)}
            onInput={(subject) => onChange({ subject })}
          />
          {kind.is_marketing && kind.list !== null && (
            <TextField
              name="preheader"
              label="Preheader"
              value={words.preheader}
              hint={preheaderHint(words.preheader)}
              onInput={(preheader) => onChange({ preheader })}
            />
          )}
          <Body {...props} />
        </div>
      </Panel>
      <ReaderView words={words} kind={kind} reader={reader} onReader={onReader} />
    </div>
  );
}

function Body({ kind, words, onChange }: EditorProps) {
  const is_markdown = words.body_markdown !== null;
  const [part, setPart] = useState<'html' | 'text'>(
    words.body_html === null && words.body_text !== null ? 'text' : 'html',
  );
  const language: Language = is_markdown ? 'markdown' : part;
  const writeIn = async (chosen: string): Promise<void> => {
    if (chosen === 'markdown') onChange({ body_markdown: words.body_text ?? '' });
    else onChange({ body_markdown: null, ...(await bodiesOf(kind.project, words)) });
  };
  return (
    <>
      <div class="row written-in">
        <SelectField
          name="written_in"
          label="Written in"
          choices={[
            ['markdown', 'Markdown'],
            ['html', 'HTML and text'],
          ]}
          value={is_markdown ? 'markdown' : 'html'}
          onChange={writeIn}
        />
        <span class="spacer" />
        {!is_markdown && (
          <Choice<'html' | 'text'>
            label="Part that is written"
            choices={[
              ['html', PARTS.html],
              ['text', PARTS.text],
            ]}
            now={part}
            onChoose={setPart}
          />
        )}
      </div>
      <Writing key={language} language={language} kind={kind} words={words} onChange={onChange} />
    </>
  );
}

/** The bodies that Markdown makes, with placeholders as they are; nothing where there is none. */
async function bodiesOf(project: string, { body_markdown }: Words): Promise<Partial<Words>> {
  if (!body_markdown?.trim()) return {};
  const body = { body_markdown };
  const path = { project };
  const made = await call('POST /projects/{project}/email-templates/preview', { path, body }).catch(
    (error: unknown) => toast(error instanceof Error ? error.message : String(error), 'bad'),
  );
  return made ? { body_html: made.body_html, body_text: made.body_text } : {};
}

type WritingProps = Pick<EditorProps, 'kind' | 'words' | 'onChange'> & { language: Language };

function Writing({ language, kind, words, onChange }: WritingProps) {
  const { project } = kind;
  const handle = useRef<EditorHandle | null>(null);
  const [uploading, setUploading] = useState(0);
  const groups = useFieldGroups({ ...kind, words, given: Object.keys(kind.values) });
  const marks = language === 'text' ? null : MARKS[language];
  const add = async (files: File[]): Promise<void> => {
    setUploading((n) => n + files.length);
    for (const file of files) {
      try {
        const { url } = await uploadFile(project, file, { visibility: 'public' });
        const line = marks?.picture(url, file.name.replace(/\.[^.]*$/, ''));
        if (line) handle.current?.insert(`${line}\n`);
      } catch (error) {
        toast(`${file.name} was not put in: ${error instanceof Error ? error.message : error}`, 'bad');
      }
      setUploading((n) => n - 1);
    }
  };
  const field = BODIES[language];
  return (
    <div class="writing">
      <Toolbar project={project} language={language} groups={groups} handle={() => handle.current} />
      <CodeEditor
        label={`${PARTS[language]} of the mail`}
        language={language === 'html' ? 'html' : 'text'}
        value={words[field] ?? ''}
        // Markdown that is empty is Markdown still.
        onChange={(text) => onChange({ [field]: language === 'markdown' ? text : text || null })}
        onReady={(ready) => {
          handle.current = ready;
        }}
        {...(marks && {
          keys: {
            b: () => handle.current?.wrap(...marks.bold, 'bold'),
            i: () => handle.current?.wrap(...marks.italic, 'italic'),
          },
          onPictures: (files: File[]) => void add(files),
        })}
      />
      <p class="muted fine" role="status">
        {uploading > 0
          ? `Putting ${uploading === 1 ? 'a picture' : `${uploading} pictures`} into Files…`
          : HINTS[language]}
      </p>
    </div>
  );
}

const HINTS: Readonly<Record<Language, string>> = {
  markdown: 'CommonMark with tables; HTML in it is shown as text. Drop a picture to put it in.',
  html: 'Drop a picture to put it in.',
  text: 'For programs that show no HTML. Empty: the mail has HTML alone.',
};

/**
 * How much of a line inboxes show. They cut by width, so these are rough: about 40 characters of a subject on a telephone and 70 on
 * a desk, and 90 of a preheader, as emailtooltester.com measured in 2023 (Apple Mail on an iPhone 48 and 99, the app of Gmail 33 to 40,
 * Gmail on a desk about 70).
 */
const SUBJECT_ON_PHONE = 40;
const SUBJECT_ON_DESK = 70;
const PREHEADER = 90;

const lengthOf = (text: string): number => [...text.trim()].length;
const counted = (n: number): string => `${n} ${n === 1 ? 'character' : 'characters'}`;

function subjectHint(text: string): string {
  const n = lengthOf(text);
  if (n === 0)
    return `Telephones show about ${SUBJECT_ON_PHONE} characters of it, a desk about ${SUBJECT_ON_DESK}.`;
  if (n <= SUBJECT_ON_PHONE) return `${counted(n)}: telephones show all of it.`;
  if (n <= SUBJECT_ON_DESK) return `${counted(n)}: telephones cut it after about ${SUBJECT_ON_PHONE}.`;
  return `${counted(n)}: telephones cut it after about ${SUBJECT_ON_PHONE}, a desk after about ${SUBJECT_ON_DESK}.`;
}

function preheaderHint(text: string): string {
  const n = lengthOf(text);
  if (n === 0) return 'What inboxes show behind the subject. Without one, the beginning of the mail.';
  if (n <= PREHEADER) return `${counted(n)}: inboxes show about ${PREHEADER} behind the subject.`;
  return `${counted(n)}: inboxes cut it after about ${PREHEADER}.`;
}
