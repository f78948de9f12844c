/** What names a file to the API. */
export interface FilePath {
  project: string;
  public_id: string;
}
