/** Paths with names in them. */

/** A path whose values are put in: to`/projects/${slug}/keys`. */
export function to(strings: TemplateStringsArray, ...values: (string | number)[]): string {
  return String.raw({ raw: strings }, ...values.map((value) => encodeURIComponent(String(value))));
}
