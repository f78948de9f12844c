/** What names a template to the API. */
export interface TemplatePath {
  project: string;
  slug: string;
}
