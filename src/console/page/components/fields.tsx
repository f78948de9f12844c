/**
 * The fields of a form, each said once: by the name that the API has for it, with its words and how it is read. `Fields` shows a
 * list of them, `Entered.read` reads it in the shapes of the API.
 */
import type { ComponentChildren, ComponentProps } from 'preact';
import { useId } from 'preact/hooks';
import { Mending } from './error-box.tsx';
import { Field, type FieldProps } from './field.tsx';
import { type Entered, useFieldErrors, useFieldRemedy } from './form.tsx';
import { SecretField } from './secret-field.tsx';
import { TextField } from './text-field.tsx';

/** The place of a field and the value it shows, which is undefined in a form of something new. */
interface Place<T> {
  name: string;
  value: T | null | undefined;
  is_focused: boolean;
}

export interface FormField<T> {
  show(place: Place<T>): ComponentChildren;
  read(entered: Entered, name: string): T;
}

export type FieldList = Readonly<Record<string, FormField<unknown> | undefined>>;
/** The values that the fields of a list read. */
export type ReadOf<F extends FieldList> = {
  [K in keyof F]: NonNullable<F[K]> extends FormField<infer T> ? T : never;
};
/** The same without what is empty. */
export type GivenOf<F extends FieldList> = {
  [K in keyof ReadOf<F> as null extends ReadOf<F>[K] ? never : K]: ReadOf<F>[K];
} & { [K in keyof ReadOf<F> as null extends ReadOf<F>[K] ? K : never]?: NonNullable<ReadOf<F>[K]> };

type Options<Props> = Partial<Omit<Props, 'name' | 'label'>>;
type TextOptions = Options<ComponentProps<typeof TextField>>;
type Choices<T extends string> =
  | readonly (readonly [value: T, label: string])[]
  | Readonly<Record<T, string>>;

const listOf = <T extends string>(choices: Choices<T>) =>
  (Array.isArray(choices) ? choices : Object.entries(choices)) as readonly (readonly [T, string])[];

/** `of` has the values; `is_focused`: the first of the fields has the focus. */
export function Fields<F extends FieldList>(props: {
  fields: F;
  of?: { readonly [K in keyof F]?: ReadOf<F>[K] | null | undefined } | null | undefined;
  is_focused?: boolean;
  /** Of the thing that they are of, as `defaults.`. */
  prefix?: string;
}) {
  const { fields, of, is_focused = false, prefix = '' } = props;
  return (
    <>
      {Object.entries(fields).map(([name, field], index) =>
        field?.show({ name: prefix + name, value: of?.[name], is_focused: is_focused && index === 0 }),
      )}
    </>
  );
}

const textField =
  <T extends string | number | null>(read: FormField<T>['read']) =>
  (label: string, options: TextOptions = {}): FormField<T> => ({
    show: ({ name, value = options.value, is_focused }) => (
      <TextField key={name} is_focused={is_focused} {...options} name={name} label={label} value={value} />
    ),
    read,
  });

/** One line that there must be. */
export const text = textField<string>((entered, name) => entered.text(name));

/** One line that may be empty, which is null. */
export const optional = textField<string | null>((entered, name) => entered.textOrNull(name));

/** A number, or null. */
export const number = (label: string, options: TextOptions = {}): FormField<number | null> =>
  textField<number | null>((entered, name) => entered.numberOrNull(name))(label, {
    type: 'number',
    ...options,
  });

/** As it is typed. */
export const password = (label: string, options: TextOptions = {}): FormField<string> =>
  textField<string>((entered, name) => entered.exact(name))(label, { type: 'password', ...options });

/** Several, with commas between. */
export const words = (label: string, options: TextOptions = {}): FormField<string[]> => ({
  show: ({ name, value, is_focused }) => (
    <TextField
      key={name}
      is_focused={is_focused}
      {...options}
      name={name}
      label={label}
      value={value?.join(', ')}
    />
  ),
  read: (entered, name) => entered.words(name),
});

/** Several lines, or null. */
export const area = (
  label: string,
  options: Options<ComponentProps<typeof TextAreaField>> = {},
): FormField<string | null> => ({
  show: ({ name, value }) => (
    <TextAreaField key={name} {...options} name={name} label={label} value={value} />
  ),
  read: (entered, name) => entered.textOrNull(name),
});

/** Several, one on each line. */
export const lines = (
  label: string,
  options: Options<ComponentProps<typeof TextAreaField>> = {},
): FormField<string[]> => ({
  show: ({ name, value }) => (
    <TextAreaField
      key={name}
      rows={2}
      hint="One on each line."
      {...options}
      name={name}
      label={label}
      value={value?.join('\n')}
    />
  ),
  read: (entered, name) => entered.lines(name),
});

/** Never shows the stored secret. Left empty, which is null, the secret stays. */
export const secret = (
  label: string,
  options: Options<ComponentProps<typeof SecretField>> = {},
): FormField<string | null> => ({
  show: ({ name, is_focused }) => (
    <SecretField key={name} is_focused={is_focused} {...options} name={name} label={label} />
  ),
  read: (entered, name) => entered.exact(name).replace(/\n$/, '') || null,
});

type CheckOptions = Options<ComponentProps<typeof CheckField>>;

export const check = (label: string, options: CheckOptions = {}): FormField<boolean> => ({
  show: ({ name, value }) => (
    <CheckField
      key={name}
      {...options}
      name={name}
      label={label}
      is_checked={value ?? options.is_checked ?? false}
    />
  ),
  read: (entered, name) => entered.flag(name),
});

/** Those of a few that are ticked. */
export const checks = <T extends string>(
  label: string,
  choices: readonly (readonly [value: T, label: string, hint?: string])[],
  options: Options<ComponentProps<typeof ChecksField>> = {},
): FormField<T[]> => ({
  show: ({ name, value }) => (
    <ChecksField key={name} {...options} name={name} label={label} choices={choices} value={value ?? []} />
  ),
  read: (entered, name) => choices.flatMap(([each]) => (entered.all(name).includes(each) ? [each] : [])),
});

type SelectOptions = Options<Omit<ComponentProps<typeof SelectField>, 'choices'>>;

/** A field that shows and reads something else than its kind does. */
export const mapped = <T, S>(
  field: FormField<S>,
  show: (value: T) => S,
  read: (shown: S) => T,
): FormField<T> => ({
  show: ({ value, ...place }) =>
    field.show({ ...place, value: value === null || value === undefined ? null : show(value) }),
  read: (entered, name) => read(field.read(entered, name)),
});

/** One of a few; the first where none is chosen. */
export const choice = <T extends string>(
  label: string,
  choices: Choices<T>,
  options: SelectOptions = {},
): FormField<T> => ({
  show: ({ name, value }) => (
    <SelectField
      key={name}
      {...options}
      name={name}
      label={label}
      choices={listOf(choices)}
      value={value ?? options.value ?? ''}
    />
  ),
  // An empty list has nothing to choose.
  read: (entered, name) => {
    const all = listOf(choices);
    return (all.find(([each]) => each === entered.text(name)) ?? all[0])?.[0] as T;
  },
});

/** One of a few, or null; `none` says what that means. */
export const choiceOrNone = <T extends string>(
  label: string,
  none: string,
  choices: Choices<T>,
  options: SelectOptions = {},
): FormField<T | null> =>
  mapped<T | null, T | ''>(
    choice<T | ''>(label, [['', none], ...listOf(choices)], options),
    (value) => value ?? '',
    (chosen) => chosen || null,
  );

/** A time zone. */
export const zone = (label: string): FormField<string> => ({
  show: ({ name, value }) => <ZoneField key={name} name={name} label={label} value={value ?? 'UTC'} />,
  read: (entered, name) => entered.text(name),
});

/** Something that is so or not. */
export function CheckField(
  props: FieldProps & { value?: string; is_checked?: boolean; onChange?: (is_checked: boolean) => void },
) {
  const { name, label, hint, value = 'on', is_checked, onChange } = props;
  const id = useId();
  const wrong = useFieldErrors(name);
  const remedy = useFieldRemedy(name);
  const says_itself = value === 'on';
  return (
    <div class="check">
      <input
        type="checkbox"
        id={id}
        name={name}
        value={value}
        defaultChecked={is_checked}
        aria-describedby={hint ? `${id}-hint` : undefined}
        aria-invalid={wrong.length > 0 ? 'true' : undefined}
        onChange={onChange && ((event) => onChange(event.currentTarget.checked))}
      />
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {says_itself && wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
      {says_itself && remedy && (
        <div class="mending">
          <Mending remedy={remedy} />
        </div>
      )}
    </div>
  );
}

/** Several of a few, each with a box of its own; what the API said of them stands below all. */
export function ChecksField(
  props: FieldProps & {
    choices: readonly (readonly [value: string, label: string, hint?: string])[];
    value: readonly string[];
    /** Above them. */
    lead?: string;
    children?: ComponentChildren;
  },
) {
  const { name, label, hint, lead, choices, value, children } = props;
  const wrong = useFieldErrors(name);
  return (
    <fieldset class="field">
      <legend class="field-label">{label}</legend>
      {lead && <p class="hint">{lead}</p>}
      <div class="checks">
        {choices.map(([each, title, says]) => (
          <CheckField
            key={each}
            name={name}
            value={each}
            label={title}
            hint={says}
            is_checked={value.includes(each)}
          />
        ))}
        {children}
      </div>
      {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
      {hint && <p class="hint">{hint}</p>}
    </fieldset>
  );
}

/** A choice of one. */
export function SelectField(
  props: FieldProps & {
    choices: readonly (readonly [value: string, label: string])[];
    value?: string;
    onChange?: (value: string) => void;
  },
) {
  const { choices, value, onChange } = props;
  return (
    <Field {...props}>
      {(ties) => (
        <select
          {...ties}
          class="input"
          onChange={onChange && ((event) => onChange(event.currentTarget.value))}
        >
          {choices.map(([each, label]) => (
            <option key={each} value={each} selected={each === value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Several lines of text. */
export function TextAreaField(
  props: FieldProps & {
    value?: string | null;
    rows?: number;
    placeholder?: string;
    is_mono?: boolean;
    onInput?: (value: string) => void;
  },
) {
  const { value, rows = 4, placeholder, is_mono, onInput } = props;
  return (
    <Field {...props}>
      {(ties) => (
        <textarea
          {...ties}
          class={`input${is_mono ? ' mono' : ''}`}
          rows={rows}
          placeholder={placeholder}
          defaultValue={value ?? ''}
          onInput={onInput && ((event) => onInput(event.currentTarget.value))}
        />
      )}
    </Field>
  );
}

/** A time zone: typed, and found by any part of its name. */
export function ZoneField(props: FieldProps & { value: string; onInput?: (value: string) => void }) {
  return (
    <TextField
      {...props}
      hint="Type a part of its name, such as a city."
      list={[...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])]}
    />
  );
}

/** Of whoever looks. */
export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A file to be chosen. */
export function FileField(props: FieldProps & { accept?: string }) {
  return (
    <Field {...props}>{(ties) => <input {...ties} class="input" type="file" accept={props.accept} />}</Field>
  );
}
