/** Refusals of the API in the words of the form that was filled in. */
import { ApiError } from '../api.ts';

/** A message as a sentence, to stand beside its field and label: "must be a number" becomes "Must be a number." */
export function asSentence(told: string): string {
  return told.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase()).replace(/([^.!?])$/, '$1.');
}

/** Of a field that no form has: `smtp_url` is "smtp url". */
export function inWords(field: string): string {
  return field.replaceAll('_', ' ');
}

/** A form's input of a field of the API, or of the field around it (`origins.0.value` is in `origins`); null where it has none. */
export function fieldIn(form: HTMLFormElement | null, field: string): { label: string } | null {
  const parts = field.split('.');
  for (let many = parts.length; many > 0; many -= 1) {
    const name = parts.slice(0, many).join('.');
    const element = form?.querySelector<HTMLElement>(`[name="${CSS.escape(name)}"]`);
    if (element) return { label: labelOf(element) ?? inWords(name) };
  }
  return null;
}

function labelOf(element: HTMLElement): string | null {
  const is_one_of_many =
    element instanceof HTMLInputElement && element.type === 'checkbox' && element.value !== 'on';
  const legend = is_one_of_many ? element.closest('fieldset')?.querySelector(':scope > legend') : null;
  const label = 'labels' in element && element.labels instanceof NodeList ? element.labels[0] : null;
  return (legend ?? label ?? element.querySelector(':scope > legend'))?.textContent ?? null;
}

/** The same with fields called as the form calls them: `body_text` is “Text”. A name of one word is a word, too. */
export function inLabels(error: ApiError, form: HTMLFormElement | null): ApiError {
  const tell = (text: string): string =>
    text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => {
      const found = fieldIn(form, name);
      return found ? `“${found.label}”` : name;
    });
  const errors = Object.entries(error.errors).map(([field, told]) => [field, told.map(tell)] as const);
  const body = {
    ...error.details,
    code: error.code,
    message: tell(error.message),
    errors: Object.fromEntries(errors),
  };
  return new ApiError(error.status, body, error);
}
