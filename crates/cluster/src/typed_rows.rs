//! Statements that return values: rows as tuples, errors that name the operation.

use tokio_postgres::types::{FromSqlOwned, ToSql};
use tokio_postgres::{Error, GenericClient, Row};

use super::error::ClusterError;
use super::watched::Watched;

/// The columns of a row.
pub(super) trait FromRow: Sized {
    /// Reads them.
    fn from_row(row: &Row) -> Result<Self, Error>;
}

macro_rules! tuples {
    ($(($($column:ident $place:tt),+))+) => {
        $(impl<$($column: FromSqlOwned),+> FromRow for ($($column,)+) {
            fn from_row(row: &Row) -> Result<Self, Error> {
                Ok(($(row.try_get::<_, $column>($place)?,)+))
            }
        })+
    };
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}

type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// `doing` names the operation by a verb, for errors.
impl<C: GenericClient + Sync> Watched<C> {
    /// Returns the rows.
    pub(super) async fn rows<T: FromRow>(
        &self,
        doing: &'static str,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<T>, ClusterError> {
        let doing = ClusterError::query(doing);
        let rows = self.query(statement, parameters).await.map_err(&doing)?;
        rows.iter().map(T::from_row).collect::<Result<_, _>>().map_err(doing)
    }

    /// Returns the row, if there is one.
    pub(super) async fn row_if_any<T: FromRow>(
        &self,
        doing: &'static str,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Option<T>, ClusterError> {
        let row = self.query_opt(statement, parameters).await.map_err(ClusterError::query(doing))?;
        row.as_ref().map(T::from_row).transpose().map_err(ClusterError::query(doing))
    }

    /// Returns the one row.
    pub(super) async fn row<T: FromRow>(
        &self,
        doing: &'static str,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<T, ClusterError> {
        let row = self.query_one(statement, parameters).await.map_err(ClusterError::query(doing))?;
        T::from_row(&row).map_err(ClusterError::query(doing))
    }

    /// Returns how many rows were changed.
    pub(super) async fn change(
        &self,
        doing: &'static str,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<u64, ClusterError> {
        self.execute(statement, parameters).await.map_err(ClusterError::query(doing))
    }
}
