/**
 * A form: hands over what was entered, shows that it is busy, and puts what the API said of a field beside it; the rest above.
 * `onSubmit` throws ApiError where the API refuses, as `call` does.
 */
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, reloadAll } from '../api.ts';
import { mayWrite } from '../capabilities.ts';
import { forgetEntries, useKeptEntries } from '../kept-entries.ts';
import { trimUnseen } from './address.ts';
import { Declined, mayLeave } from './ask-first.tsx';
import { ErrorBox } from './error-box.tsx';
import type { FieldList, GivenOf, ReadOf } from './fields.tsx';
import { asSentence, fieldIn, inLabels, inWords } from './in-labels.ts';
import { type Remedy, remedyOf, tellRefusal } from './refusal.ts';

/** Entries of a form by the names of its fields. */
export class Entered {
  readonly #data: FormData;
  /** Of what the form was filled from, for `if_match`. */
  readonly version: string | null;

  constructor(data: FormData, version: string | null) {
    this.#data = data;
    this.version = version;
  }

  text(name: string): string {
    const value = this.#data.get(name);
    return typeof value === 'string' ? trimUnseen(value) : '';
  }

  /** As it was typed, spaces and all: a password, a template. */
  exact(name: string): string {
    const value = this.#data.get(name);
    return typeof value === 'string' ? value : '';
  }

  /** Null where the field is empty: an optional field of a PATCH is cleared by it. */
  textOrNull(name: string): string | null {
    return this.text(name) || null;
  }

  numberOrNull(name: string): number | null {
    const text = this.text(name);
    return text === '' ? null : Number(text);
  }

  flag(name: string): boolean {
    return this.#data.has(name);
  }

  /** The names that begin so. */
  names(prefix: string): string[] {
    return [...this.#data.keys()].filter((name) => name.startsWith(prefix));
  }

  /** All values of that name: ticked boxes. */
  all(name: string): string[] {
    return this.#data.getAll(name).filter((value) => typeof value === 'string');
  }

  /** One for each line. */
  lines(name: string): string[] {
    return this.exact(name)
      .split('\n')
      .map(trimUnseen)
      .filter((line) => line !== '');
  }

  /** One for each line or comma. */
  words(name: string): string[] {
    return this.text(name)
      .split(/[\n,]/)
      .map(trimUnseen)
      .filter((word) => word !== '');
  }

  /** Reads the fields of a list, by their names. */
  read<F extends FieldList>(fields: F, prefix = ''): ReadOf<F> {
    const read = Object.entries(fields).map(([name, field]) => [name, field?.read(this, prefix + name)]);
    return Object.fromEntries(read) as ReadOf<F>; // Field by field the same.
  }

  /** The same without what is null: what a new thing is not given. */
  given<F extends FieldList>(fields: F, prefix = ''): GivenOf<F> {
    const given = Object.entries(this.read(fields, prefix)).filter(([, value]) => value !== null);
    return Object.fromEntries(given) as GivenOf<F>; // Field by field the same.
  }

  file(name: string): File | null {
    const value = this.#data.get(name);
    return value instanceof File && value.name !== '' ? value : null;
  }
}

const Refusal = createContext<ApiError | null>(null);

/**
 * What the API said of a field, and of what is in it unless `is_exact`: of `recipients.1.email`, which belongs to `recipients`,
 * with the number of the one that is meant.
 */
export function useFieldErrors(name: string, { is_exact = false } = {}): readonly string[] {
  const error = useContext(Refusal);
  return Object.entries(error?.errors ?? {}).flatMap(([field, messages]) => {
    if (field !== name && (is_exact || !field.startsWith(`${name}.`))) return [];
    const [index = ''] = field.slice(name.length + 1).split('.');
    return messages.map((message) => {
      const told = tellRefusal(message, error && remedyOf(error));
      return /^\d+$/.test(index) ? asSentence(`No. ${Number(index) + 1}: ${told}`) : asSentence(told);
    });
  });
}

/** The remedy for the refusal of a field; null where nothing was refused, or none is known. */
export function useFieldRemedy(name: string): Remedy | null {
  const error = useContext(Refusal);
  const remedy = error && remedyOf(error);
  const messages = error?.errors[name] ?? [];
  return messages.some((message) => message.includes(remedy?.command ?? '')) ? remedy : null;
}

const NOT_THERE_YET = 'Not all of the form is there yet, and nothing was sent. Try again in a moment.';

export function Form(props: {
  submit: string;
  onSubmit(entered: Entered): Promise<unknown>;
  tone?: 'bad';
  onCancel?: () => void;
  is_disabled?: boolean;
  /** The version of what its fields show, where it changes what is there: it comes back as `entered.version`. */
  version?: string | null;
  /** In two columns, where there is room. */
  is_wide?: boolean;
  /** Entries are a question, or kept elsewhere: leaving loses nothing, so nobody is asked first. */
  is_fleeting?: boolean;
  /** It changes nothing, or what is one's own: who is read-only fills it in, too. */
  is_for_readers?: boolean;
  /** This tab keeps the entries under this name until they are sent, for whoever leaves and comes back. */
  keep?: string;
  children?: ComponentChildren;
}) {
  const [error, setError] = useState<ApiError | null>(null);
  const [is_busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const wrong = error && form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    for (const each of form.current?.querySelectorAll('[aria-invalid="true"]') ?? [])
      each.closest('details')?.setAttribute('open', '');
    wrong?.focus();
    // A refusal of the whole stands above the fields, which may be far from the button.
    if (error && !wrong) form.current?.querySelector('[role=alert]')?.scrollIntoView({ block: 'nearest' });
  }, [error]);
  const kept = props.keep ?? null;
  useKeptEntries(form, kept);
  // Whoever types has not read what is loaded meanwhile.
  const is_touched = useRef(false);
  const setTouched = (touched: boolean): void => {
    is_touched.current = touched;
    form.current?.toggleAttribute('data-unsaved', touched && !props.is_fleeting && kept === null);
  };
  const cancel = async (): Promise<void> => {
    if (form.current?.hasAttribute('data-unsaved') && !(await mayLeave())) return;
    forgetEntries(kept);
    props.onCancel?.();
  };
  const version = useRef<string | null>(null);
  if (!is_touched.current) version.current = props.version ?? null;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (is_busy || !form.current) return;
    // A field that is not there yet would be sent as if it had been emptied.
    if (form.current.querySelector('[aria-busy="true"]')) {
      setError(new ApiError(0, { message: NOT_THERE_YET }));
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await props.onSubmit(new Entered(new FormData(form.current), version.current));
      forgetEntries(kept);
      setTouched(false);
    } catch (thrown) {
      if (thrown instanceof Declined) return;
      if (version.current !== null && isOutdated(thrown)) {
        // The next version is what is saved over; what was typed is unsaved still.
        is_touched.current = false;
        reloadAll();
      }
      const refusal = thrown instanceof ApiError ? thrown : new ApiError(0, { message: String(thrown) });
      setError(inLabels(refusal, form.current));
    } finally {
      setBusy(false);
    }
  };
  const classes = `form${props.is_wide ? ' wide' : ''}`;
  if (!props.is_for_readers && !mayWrite())
    return (
      <fieldset class={classes} disabled>
        {props.children}
      </fieldset>
    );
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard clicks a button, too.
    <form
      class={classes}
      ref={form}
      onSubmit={submit}
      onInput={() => setTouched(true)}
      // A button in it adds, moves or takes away something, but where it opens a dialog.
      onClick={({ target }) =>
        target instanceof Element &&
        target.closest('button[type=button]:not([aria-haspopup])') &&
        !target.closest('.form-buttons') &&
        setTouched(true)
      }
      noValidate
    >
      {error && <Refused error={error} form={form.current} />}
      {props.version && isOutdated(error) && (
        <p class="hint">
          Fields that you have not touched show what is there now; yours are as you left them. Save again to
          put them over it.
        </p>
      )}
      <Refusal.Provider value={error}>{props.children}</Refusal.Provider>
      <div class="form-buttons">
        <button
          type="submit"
          class={`button primary${props.tone ? ` ${props.tone}` : ''}`}
          disabled={props.is_disabled}
          // It keeps the focus, which a disabled one loses.
          aria-disabled={is_busy || undefined}
          aria-busy={is_busy}
        >
          {props.submit}
        </button>
        {props.onCancel && (
          <button type="button" class="button quiet" onClick={cancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

/** Says whether somebody else has changed it since it was read: the one conflict that is about no field. */
function isOutdated(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409 && Object.keys(error.errors).length === 0;
}

/** Tells above the form what has no field in it. */
function Refused({ error, form }: { error: ApiError; form: HTMLFormElement | null }) {
  const fields = Object.keys(error.errors);
  const rest = Object.entries(error.errors).filter(([field]) => fieldIn(form, field) === null);
  if (rest.length === 0 && fields.length > 0) {
    const labels = new Set(fields.map((field) => fieldIn(form, field)?.label ?? field));
    return <p class="hidden" role="alert">{`Not accepted: ${[...labels].join(', ')}`}</p>;
  }
  const told = rest.flatMap(([field, messages]) =>
    messages.map((message) => asSentence(field === '_' ? message : `${inWords(field)}: ${message}`)),
  );
  const message = told.join(' ') || error.message;
  return <ErrorBox error={new ApiError(error.status, { ...error.details, message }, error)} />;
}
