/** Files that the executable carries: those of Swagger UI as paths, our own as their text. */
declare module 'swagger-ui-dist/swagger-ui.css' {
  const path: string;
  export default path;
}
declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string;
  export default path;
}
declare module '*.md' {
  const text: string;
  export default text;
}
declare module '*/guide.css' {
  const text: string;
  export default text;
}
