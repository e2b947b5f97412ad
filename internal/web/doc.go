// Package web is the console: pages on this machine where a person sees what runs,
// answers what waits, looks up what happened, undoes it, and takes rules back. The
// same is there as JSON, which the pages' own script uses; /api/openapi.json
// describes it.
//
// A Console acts only through the functions that it is given. It knows no store, no
// runtime and no configuration.
//
// Everything that is shown may have been written by a stranger: it goes through
// html/template, and a strict Content-Security-Policy stands behind that. Nothing is
// loaded from elsewhere. Reading and deciding work without JavaScript; with it the
// pages keep themselves up to date.
package web
