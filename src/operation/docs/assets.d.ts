/** Files that the executable carries, as their text. */
declare module '*.md' {
  const text: string;
  export default text;
}
/** Files that the executable carries, as their path. */
declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string;
  export default path;
}
declare module 'swagger-ui-dist/swagger-ui.css' {
  const path: string;
  export default path;
}
declare module '*/docs.css' {
  const text: string;
  export default text;
}
