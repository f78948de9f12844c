/** Shows strangers' view beside the settings, as they are typed: each public page and mail, in each language. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { PagesPreview, PagesPreviewRequest } from '../../api.generated.ts';
import type { ApiError } from '../../api.ts';
import { ErrorBox } from '../../components/error-box.tsx';
import { Entered } from '../../components/form.tsx';
import { PreviewFrame } from '../../components/mail-view.tsx';
import { remedyOf, tellRefusal } from '../../components/refusal.ts';
import { Choice, type Scheme, SchemeChoice } from '../../components/tabs.tsx';
import { useLoad } from '../../use-load.ts';
import { useRested } from '../../use-rested.ts';
import { LANGUAGES } from '../lists/list-fields.tsx';

type Language = PagesPreview['language'];
type View = 'newsletter' | 'confirmation' | PagesPreview['pages'][number]['page'];

/** In the order in which somebody meets them. */
const VIEWS: Readonly<Record<View, string>> = {
  newsletter: 'A newsletter',
  join: 'Sign-up page',
  thanks: 'After signing up',
  confirmation: 'Confirmation mail',
  confirm: 'Confirmation page',
  confirmed: 'After confirming',
  unsubscribe: 'Unsubscribe and choices',
  unsubscribed: 'After unsubscribing',
  taken_back: 'Unsubscribing taken back',
  choices_saved: 'After choosing',
};

/** The choice above it says which page it is. */
const FRAME = 'As strangers see it';

interface StrangersProps {
  project: string;
  first: View;
  /** The typed settings; null as long as nothing is typed. */
  typed: Omit<PagesPreviewRequest, 'language' | 'list'> | null;
  list?: string | undefined;
}

export function Strangers({ project, first, typed, list }: StrangersProps) {
  const [view, setView] = useState<View>(first);
  const [language, setLanguage] = useState<Language>('en');
  const [scheme, setScheme] = useState<Scheme>('light');
  const body = useRested({ ...typed, ...(list !== undefined && { list }), language });
  const load = useLoad('POST /projects/{project}/email-marketing/pages/preview', { path: { project }, body });
  const shown = load.data;
  return (
    <section class="panel strangers" aria-label="What strangers see">
      <div class="panel-head">
        <h2>What strangers see</h2>
        <p class="lead">As it is typed, saved or not. Nothing in it can be pressed.</p>
      </div>
      <div class="panel-body stack mail-view">
        <div class="row">
          <select
            class="input"
            aria-label="Page or mail"
            value={view}
            onChange={({ currentTarget }) => isView(currentTarget.value) && setView(currentTarget.value)}
          >
            {Object.entries(VIEWS).map(([each, label]) => (
              <option key={each} value={each} selected={each === view}>
                {label}
              </option>
            ))}
          </select>
        </div>
        <div class="row">
          <select
            class="input"
            aria-label="Language of the reader"
            onChange={({ currentTarget }) =>
              isLanguage(currentTarget.value) && setLanguage(currentTarget.value)
            }
          >
            {Object.entries(LANGUAGES).map(([each, label]) => (
              <option key={each} value={each} selected={each === (shown?.language ?? language)}>
                {label}
              </option>
            ))}
          </select>
          <SchemeChoice now={scheme} onChoose={setScheme} />
        </div>
        {shown && shown.language !== language && !load.is_loading && (
          <p class="muted fine">The list has a language, whatever its reader's browser asks for.</p>
        )}
        {load.error && <NotShown error={load.error} />}
        {shown && <Shown view={view} shown={shown} scheme={scheme} />}
      </div>
    </section>
  );
}

function Shown(props: { view: View; shown: PagesPreview; scheme: Scheme }) {
  const { view, shown, scheme } = props;
  if (view === 'newsletter') return <Mail mail={shown.newsletter} scheme={scheme} />;
  if (view === 'confirmation')
    return shown.confirmation ? (
      <>
        <p class="fine">
          <span class="muted">Subject: </span>
          {shown.confirmation.subject}
        </p>
        <Mail mail={shown.confirmation} scheme={scheme} />
      </>
    ) : (
      <p class="muted">
        {shown.confirmation_problem === 'is not set'
          ? 'No mail asks to confirm yet: a list has it, under Confirmation mail in its settings.'
          : `The template of the confirmation mail ${shown.confirmation_problem}.`}
      </p>
    );
  const page = shown.pages.find((each) => each.page === view);
  if (!page) return null;
  if (page.html === null)
    return (
      <p class="muted">
        People are led to your own page: <span class="break">{page.leads_to}</span>
      </p>
    );
  return (
    <>
      {view === 'join' && shown.has_captcha && (
        <p class="muted fine">The captcha stands above the button. It is not loaded here.</p>
      )}
      <PreviewFrame title={FRAME} html={page.html} scheme={scheme} />
    </>
  );
}

/** The page's own frame, or what a mail program shows who likes text. */
function Mail(props: { mail: { body_html: string | null; body_text: string | null }; scheme: Scheme }) {
  const { mail, scheme } = props;
  const [part, setPart] = useState<'HTML' | 'Text'>('HTML');
  const is_text = mail.body_html === null || (part === 'Text' && mail.body_text !== null);
  return (
    <>
      {mail.body_html !== null && mail.body_text !== null && (
        <Choice<'HTML' | 'Text'>
          label="Part of the mail"
          choices={[
            ['HTML', 'HTML'],
            ['Text', 'Text'],
          ]}
          now={part}
          onChoose={setPart}
        />
      )}
      {is_text ? (
        <pre class="mail-text">{mail.body_text}</pre>
      ) : (
        <PreviewFrame title={FRAME} html={mail.body_html ?? ''} scheme={scheme} />
      )}
    </>
  );
}

/** Tells why the typed settings can't be shown yet. Below stand the last that could. */
function NotShown({ error }: { error: ApiError }) {
  const [[field, messages] = ['', []]] = Object.entries(error.errors);
  if (messages.length === 0) return <ErrorBox error={error} />;
  const name = field.split('.').at(-1)?.replaceAll('_', ' ') ?? '';
  const [first = ''] = messages;
  return (
    <p class="notice warn" role="status">
      Not shown as it is typed: {name} {tellRefusal(first, remedyOf(error))}
    </p>
  );
}

const isView = (value: string): value is View => Object.hasOwn(VIEWS, value);
const isLanguage = (value: string): value is Language => Object.hasOwn(LANGUAGES, value);

/** A form, and beside it what comes of it as it is typed; below it where there is no room. */
export function BesideForm(props: {
  form: ComponentChildren;
  /** `entered` is null as long as nothing was changed. */
  beside(entered: Entered | null): ComponentChildren;
}) {
  const [entered, setEntered] = useState<Entered | null>(null);
  const within = useRef<HTMLDivElement>(null);
  const read = (): void => {
    const form = within.current?.querySelector('form');
    if (form) setEntered(new Entered(new FormData(form), null));
  };
  return (
    <div class="beside-form">
      <div ref={within} onInput={read} onChange={read}>
        {props.form}
      </div>
      <div class="beside">{props.beside(entered)}</div>
    </div>
  );
}
